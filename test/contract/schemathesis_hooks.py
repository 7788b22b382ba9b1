"""Checks that replace those of schemathesis where the specification promises something else. They are not weaker."""

import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.core.failures import Failure
from schemathesis.openapi.checks import UseAfterFree

PROJECT = "DELETE /v1/projects/{slug}"
#: Messages about rules that a JSON schema can hardly express: the grammar of transform chains, fields that depend
#: on each other or on the state of the project, invalid hosts, and bodies with ambiguous keys.
UNSAYABLE = (
    "expected a transform chain",
    "send only one of them",
    "required: a DNS label",
    "required: a text of at most",
    "parts work in mode direct only",
    "needs a transform_chain",
    "takes no transform_chain",
    "leave one of them out",
    "the project has none",
    "watermark preset of this project",
    "expected a preset of the project",
    "with a preset of this project",
    "an organization that exists",
    "this installation accepts",
    "a time not before its start",
    "there is no callback_url",
    "expected an https URL",
    "expected a public address",
    "expected a host that resolves",
    "expected port 443",
    "expected an origin",
    "expected a time before to",
    "of a year from",
    "with at most 6 decimals",
    "The body could be misread",
)


def is_sayable(response):
    """Whether a schema could express the violated rule. Any code other than these stands for a rule that it cannot."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return True
    if error["code"] not in {"invalid_request", "invalid_json", "internal"}:
        return False
    issues = error.get("details", {}).get("issues", [error])
    return not any(text in issue["message"] for issue in issues for text in UNSAYABLE)


@schemathesis.check
def valid_data_is_refused_by_its_own_code(ctx, response, case):
    try:
        CHECKS.get_one("positive_data_acceptance")(ctx, response, case)
    except Failure:
        if is_sayable(response):
            raise


@schemathesis.check
def deleted_is_gone(ctx, response, case):
    """DELETE of a project only suspends it, so its content can still be read."""
    try:
        CHECKS.get_one("use_after_free")(ctx, response, case)
    except UseAfterFree as failure:
        if failure.operation != PROJECT:
            raise


@schemathesis.check
def unknown_method_is_an_unknown_path(ctx, response, case):
    declared = {method.upper() for method in case.operation.schema[case.operation.path]}
    method = response.request.method
    if method in declared or method in {"HEAD", "OPTIONS"} or response.status_code == 429:
        return
    assert response.status_code == 404, f"{method} answered {response.status_code}, expected 404"
