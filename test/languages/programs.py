"""Programs for sweep, written from its documentation: python3 programs.py NAME SHIPMENT DIR. run.sh lists their verdicts."""

import email.utils
import hashlib
import hmac
import http.client
import http.server
import json
import os
import sys
import time
import urllib.error
import urllib.request

KEY = os.environ["SHIPPING_SECRET_KEY"]
DOCUMENTS = os.environ["SHIPPING_BASE_URL"] + "/v1/regulatory-documents/"


class Refused(Exception):
    """The service refused the request: sent again, it would be refused again."""


class Unclear(Exception):
    """The request may have taken effect."""


def pause(header):
    if header is None:
        return
    if not header.isdigit():
        header = max(0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    time.sleep(float(header))


def call(method, path, body=None):
    headers = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(DOCUMENTS + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            envelope = json.load(response)
            if envelope["status"] is not True:
                raise Unclear(envelope["message"])
            return envelope["data"]
    except urllib.error.HTTPError as error:
        pause(error.headers.get("Retry-After"))
        raise (Refused if 400 <= error.code < 500 and error.code not in (408, 429) else Unclear)(error.code) from error
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        raise Unclear(error) from error


def purchase(request):
    types = [d["document_type"] for d in request["available_documents"] if d["mode"] == "automated"]
    return call("POST", "purchase", {"request_id": request["request_id"], "document_types": types})


def three_times(function, *arguments):
    for attempt in range(3):
        try:
            return function(*arguments)
        except Exception:
            if attempt == 2:
                raise
            time.sleep(0.2)


def retry_everything(shipment, _):
    """Sends each failed request again, including the purchase."""
    request = three_times(call, "POST", "analyze", {"shipment_id": shipment})
    three_times(purchase, request)


def ask_once(shipment, _):
    """Reads the request once after a failure, and starts over if it is a draft."""
    for _ in range(2):
        request = call("POST", "analyze", {"shipment_id": shipment})
        try:
            purchase(request)
            return
        except Unclear:
            if call("GET", "request/" + request["request_id"])["status"] != "draft":
                return
    sys.exit("not purchased")


def settle(request_id):
    """Returns the request when it is no longer a draft, or after five minutes."""
    end = time.monotonic() + 300
    while True:
        try:
            request = call("GET", "request/" + request_id)
            if request["status"] != "draft" or time.monotonic() > end:
                return request
        except Unclear:
            if time.monotonic() > end:
                raise
        time.sleep(2)


def write_down(shipment, folder):
    """Returns the request of the shipment, which a file contains before the purchase, and whether the file is old."""
    note = os.path.join(folder, shipment)
    if os.path.exists(note):
        with open(note) as file:
            return file.read(), True
    request = three_times(call, "POST", "analyze", {"shipment_id": shipment})
    with open(note + ".part", "w") as file:
        file.write(request["request_id"])
        file.flush()
        os.fsync(file.fileno())
    os.rename(note + ".part", note)
    return request["request_id"], False


def careful(shipment, folder):
    request_id, old = write_down(shipment, folder)
    request = settle(request_id) if old else three_times(call, "GET", "request/" + request_id)
    if request["status"] == "draft":
        try:
            purchase(request)
        except (Refused, Unclear):
            if settle(request_id)["status"] == "draft":
                sys.exit("not purchased: start again")
    while (request := three_times(call, "GET", "request/" + request_id))["status"] not in ("completed", "failed"):
        time.sleep(1)
    if request["status"] == "failed":
        sys.exit("a document failed")


class Receiver(http.server.BaseHTTPRequestHandler):
    """Verifies signatures, and keeps a record of deliveries, but not of shipments."""

    seen = set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200
        if not hmac.compare_digest(hmac.new(KEY.encode(), body, hashlib.sha512).hexdigest(), self.headers.get("X-Webhook-Signature", "")):
            status = 401
        elif self.headers["X-Webhook-Delivery-Id"] not in self.seen:
            event = json.loads(body)
            try:
                if event["event"] == "shipment.created":
                    purchase(call("POST", "analyze", {"shipment_id": event["data"]["shipment_id"]}))
                self.seen.add(self.headers["X-Webhook-Delivery-Id"])
            except Exception as error:
                print(error, file=sys.stderr)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def receive_by_delivery(_, port):
    http.server.HTTPServer(("127.0.0.1", int(port)), Receiver).serve_forever()


{"retry-everything": retry_everything, "ask-once": ask_once, "careful": careful, "receive-by-delivery": receive_by_delivery}[sys.argv[1]](*sys.argv[2:])
