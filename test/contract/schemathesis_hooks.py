"""What the specification promises where schemathesis expects something else, as checks that are no weaker."""

import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.core.failures import Failure
from schemathesis.openapi.checks import UseAfterFree

PROJECT = "DELETE /v1/projects/{slug}"
#: Refusals of fields that a schema could hardly say: the grammar of chains, a field and its other name, what one field
#: means for another, what the project lacks, hosts that are none, keys that two readers could take for different things.
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
    """Every other code than these is a rule that no schema can say."""
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
    """DELETE of a project suspends it, and what is in it can still be read."""
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
