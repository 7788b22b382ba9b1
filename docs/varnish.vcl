# Varnish 6.0 LTS, or 7, in front of Tintype's delivery. See cdn.md beside this file.
#
# Change two things: the address of delivery, and who may send purges. Then
#   TINTYPE_CDN=http-purge
#   TINTYPE_CDN_URL=http://varnish.example.internal:6081
# in Tintype's environment, and `tintype doctor` says whether the two understand one another.
vcl 4.1;

backend delivery {
    .host = "delivery.tintype.svc.cluster.local";
    .port = "8081";
    # A first render may take 15 s.
    .first_byte_timeout = 20s;
    .between_bytes_timeout = 20s;
}

# Tintype's dispatcher.
acl purgers {
    "localhost";
    "10.0.0.0"/8;
}

sub vcl_recv {
    if (req.method == "BAN") {
        if (client.ip !~ purgers) {
            return (synth(403, "Not from here"));
        }
        if (req.http.Surrogate-Key !~ "^[a-z0-9_]+( [a-z0-9_]+)*$") {
            return (synth(400, "Name the tags in Surrogate-Key"));
        }
        # Only what stands in the object is compared, so that the ban lurker can work off the list.
        ban("obj.http.Surrogate-Key ~ (?:^|\s)(?:" + regsuball(req.http.Surrogate-Key, " ", "|") + ")(?:\s|$)");
        return (synth(200, "Forgotten"));
    }

    set req.backend_hint = delivery;

    # An image depends on host, path and query alone. With these two Varnish would not cache.
    unset req.http.Cookie;
    unset req.http.Authorization;

    # OPTIONS, and what delivery refuses by itself.
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
}

sub vcl_backend_response {
    # Nothing beyond its time: a signed image ends with its URL, and what is forgotten is gone at once.
    set beresp.grace = 0s;
    set beresp.keep = 0s;
}

sub vcl_deliver {
    # Browsers may keep an image for some minutes from when they got it, not from when Varnish did.
    unset resp.http.Age;
    # For caches, not for browsers. Keep them where another CDN stands in front of this one.
    unset resp.http.Surrogate-Key;
    unset resp.http.Cache-Tag;
}
