"""Purchases the documents of a shipment once, whatever happens: careless.py, fixed.

It writes the request down before the purchase, and reads it after any error. Started again, it continues with the
request that it has written down.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

BASE = os.environ["SHIPPING_BASE_URL"] + "/v1/regulatory-documents/"
HEADERS = {"Authorization": "Bearer " + os.environ["SHIPPING_SECRET_KEY"], "Content-Type": "application/json"}


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, HEADERS, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            envelope = json.load(response)
    except urllib.error.HTTPError as error:
        time.sleep(int(error.headers.get("Retry-After", 0)))
        raise
    if envelope["status"] is not True:
        raise RuntimeError(envelope["message"])
    return envelope["data"]


def purchase(request):
    types = [d["document_type"] for d in request["available_documents"] if d["mode"] != "manual"]
    call("POST", "purchase", {"request_id": request["request_id"], "document_types": types})


def buy(shipment, notes):
    note = os.path.join(notes, shipment)
    if os.path.exists(note):
        with open(note) as file:
            request = call("GET", "request/" + file.read())
    else:
        request = call("POST", "analyze", {"shipment_id": shipment})
        with open(note + ".new", "w") as file:
            file.write(request["request_id"])
            file.flush()
            os.fsync(file.fileno())
        os.replace(note + ".new", note)
    if request["status"] != "draft":
        return
    try:
        purchase(request)
    except Exception as error:
        print(error, file=sys.stderr)
        if call("GET", "request/" + request["request_id"])["status"] == "draft":
            raise


try:
    buy(sys.argv[1], sys.argv[2])
except Exception as error:
    sys.exit(f"start again to find out whether it was purchased: {error}")
