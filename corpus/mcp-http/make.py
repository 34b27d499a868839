"""Makes the access tokens of `jwt` and the keys that vouch for them, anew: private keys are not kept.

    make.py        (needs the package `cryptography`)

Each file has two lines: what is expected, as the verifier names it, and the token. The name is the claim. Now is NOW, the
issuer https://issuer.example, the audience http://127.0.0.1/mcp.
"""
import base64
import hashlib
import hmac
import json
import os

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jwt")
EARLY, NOW, LATE = 1_600_000_000, 1_800_000_000, 4_102_444_800
ISSUER, AUDIENCE = "https://issuer.example", "http://127.0.0.1/mcp"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def whole(number, size=None):
    return b64(number.to_bytes(size or (number.bit_length() + 7) // 8, "big"))


RSA, EC, ED = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
SMALL = rsa.generate_private_key(65537, 1024)
OTHER_RSA, OTHER_EC = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())


def rsa_jwk(key, kid):
    numbers = key.public_key().public_numbers()
    return {"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": whole(numbers.n), "e": whole(numbers.e)}


def ec_jwk(key, kid):
    numbers = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "kid": kid, "x": whole(numbers.x, 32), "y": whole(numbers.y, 32)}


def ed_jwk(key, kid):
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return {"kty": "OKP", "crv": "Ed25519", "kid": kid, "alg": "EdDSA", "x": b64(raw)}


def by_rsa(text, key=RSA):
    return key.sign(text, padding.PKCS1v15(), hashes.SHA256())


def by_ec(text, key=EC):
    r, s = decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def by_ec_der(text):
    return EC.sign(text, ec.ECDSA(hashes.SHA256()))


def by_pss(text):
    return RSA.sign(text, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())


def by_secret(text):
    pem = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hmac.new(pem, text, hashlib.sha256).digest()


def parts(header, payload):
    header = header if isinstance(header, str) else json.dumps(header)
    payload = payload if isinstance(payload, str) else json.dumps(payload)
    return b64(header.encode()) + "." + b64(payload.encode())


CLAIMS = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "client_id": "editor", "scope": "mcp read", "exp": LATE, "nbf": EARLY}


def claims(without=(), **more):
    return {name: value for name, value in {**CLAIMS, **more}.items() if name not in without}


def head(alg="ES256", kid="ec-1", **more):
    return {"alg": alg, "typ": "at+jwt", **({"kid": kid} if kid is not None else {}), **more}


def signed(header, payload, sign=by_ec):
    text = parts(header, payload)
    return text + "." + b64(sign(text.encode()))


def keep(name, expected, token):
    with open(os.path.join(FOLDER, name + ".txt"), "w") as file:
        file.write(f"expect: {expected}\n{token}\n")


def good():
    keep("rs256", "valid", signed(head("RS256", "rsa-1"), claims(), by_rsa))
    keep("es256", "valid", signed(head(), claims()))
    keep("eddsa", "valid", signed(head("EdDSA", "ed-1"), claims(), ED.sign))
    keep("no_kid_where_one_key_fits", "valid", signed(head(kid=None), claims()))
    keep("audience_among_several", "valid", signed(head(), claims(aud=["https://other.example", AUDIENCE])))
    keep("kind_jwt", "valid", signed({**head(), "typ": "JWT"}, claims()))
    keep("kind_not_said", "valid", signed({"alg": "ES256", "kid": "ec-1"}, claims()))
    keep("another_client_of_the_same_user", "valid", signed(head(), claims(client_id="browser")))
    keep("another_user", "valid", signed(head(), claims(sub="eve")))
    keep("without_the_scope", "valid", signed(head(), claims(scope="read")))


def forged():
    keep("algorithm_none", "Algorithm", parts(head("none", None), claims()) + ".")
    keep("algorithm_none_in_other_letters", "Algorithm", parts(head("nOnE", None), claims()) + ".")
    keep("algorithm_missing", "Algorithm", signed({"typ": "at+jwt", "kid": "ec-1"}, claims()))
    keep("public_key_as_shared_secret", "Algorithm", signed(head("HS256", "rsa-1"), claims(), by_secret))
    keep("rsa_pss", "Algorithm", signed(head("PS256", "rsa-1"), claims(), by_pss))
    keep("rsa_key_named_for_es256", "Key", signed(head("ES256", "rsa-1"), claims()))
    keep("kid_of_another_key", "Key", signed(head("RS256", "ec-1"), claims(), by_rsa))
    keep("kid_unknown", "Key", signed(head(kid="ec-2"), claims()))
    keep("kid_as_path", "Key", signed(head(kid="../../../../dev/null"), claims()))
    keep("kid_as_query", "Key", signed(head(kid="x' UNION SELECT 'k"), claims()))
    keep("kid_empty", "Key", signed(head(kid=""), claims()))
    keep("kid_number", "Shape", signed(head(kid=7), claims()))
    stranger = lambda text: by_ec(text, OTHER_EC)
    keep("key_brought_along", "Signature", signed(head(jwk=ec_jwk(OTHER_EC, "ec-1")), claims(), stranger))
    keep("key_elsewhere", "Signature", signed(head(jku="https://evil.example/keys"), claims(), stranger))
    keep("certificate_brought_along", "Signature", signed(head(x5c=["MIIB"], x5u="https://evil.example/c"), claims(), stranger))
    keep("signed_by_a_stranger", "Signature", signed(head("RS256", "rsa-1"), claims(), lambda text: by_rsa(text, OTHER_RSA)))
    keep("signature_empty", "Signature", parts(head(), claims()) + ".")
    keep("signature_of_zeros", "Signature", parts(head(), claims()) + "." + b64(bytes(64)))
    keep("signature_in_der", "Signature", signed(head(), claims(), by_ec_der))
    keep("signature_of_another_payload", "Signature",
         parts(head(), claims(sub="eve")) + "." + signed(head(), claims()).rsplit(".", 1)[1])
    keep("small_rsa_key", "Signature", signed(head("RS256", "rsa-small"), claims(), lambda text: by_rsa(text, SMALL)))


def misshapen():
    token = signed(head(), claims())
    keep("two_parts", "Shape", token.rsplit(".", 1)[0])
    keep("one_part", "Shape", "token")
    keep("four_parts", "Signature", token + "." + b64(bytes(64)))
    keep("padded", "Shape", token + "=")
    head_part, rest = token.split(".", 1)
    keep("plain_base64", "Shape", head_part.replace("e", "+", 1) + "." + rest)
    keep("key_twice_in_header", "Shape", signed('{"alg":"none","alg":"ES256","kid":"ec-1"}', claims()))
    keep("key_twice_in_claims", "Shape", signed(head(), json.dumps(claims())[:-1] + ', "sub": "root"}'))
    keep("header_a_list", "Shape", signed('["ES256"]', claims()))
    keep("claims_a_list", "Shape", signed(head(), "[]"))
    keep("critical_extension", "Kind", signed(head(crit=["exp"]), claims()))
    keep("logout_token", "Kind", signed({**head(), "typ": "logout+jwt"}, claims()))


def wrong():
    keep("expired", "Expired", signed(head(), claims(exp=EARLY + 1000)))
    keep("expired_within_the_skew", "valid", signed(head(), claims(exp=NOW - 30)))
    keep("never_expires", "Expired", signed(head(), claims(without=["exp"])))
    keep("expires_as_text", "Shape", signed(head(), claims(exp="4102444800")))
    keep("not_yet", "NotYet", signed(head(), claims(nbf=NOW + 1000)))
    keep("other_issuer", "Issuer", signed(head(), claims(iss="https://evil.example")))
    keep("issuer_with_a_slash", "Issuer", signed(head(), claims(iss=ISSUER + "/")))
    keep("issuer_as_list", "Issuer", signed(head(), claims(iss=[ISSUER])))
    keep("issuer_missing", "Issuer", signed(head(), claims(without=["iss"])))
    keep("other_audience", "Audience", signed(head(), claims(aud="http://127.0.0.1/other")))
    keep("longer_audience", "Audience", signed(head(), claims(aud=AUDIENCE + "x")))
    keep("audience_missing", "Audience", signed(head(), claims(without=["aud"])))
    keep("no_subject", "Subject", signed(head(), claims(without=["sub"])))
    keep("empty_subject", "Subject", signed(head(), claims(sub="")))
    keep("bound_to_a_key", "Bound", signed(head(), claims(cnf={"jkt": "x"})))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    secret = {"kty": "oct", "kid": "shared", "k": b64(b"secret")}
    for_encryption = {**ec_jwk(OTHER_EC, "ec-2"), "use": "enc"}
    keys = [rsa_jwk(RSA, "rsa-1"), ec_jwk(EC, "ec-1"), ed_jwk(ED, "ed-1"), rsa_jwk(SMALL, "rsa-small"), secret, for_encryption]
    with open(os.path.join(os.path.dirname(FOLDER), "jwks.json"), "w") as file:
        json.dump({"keys": keys}, file, indent=1)
        file.write("\n")
    for part in (good, forged, misshapen, wrong):
        part()


main()
