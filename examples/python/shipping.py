"""A small client of the shipping service: the code under test. Replace it by your own."""

import http.client
import json
import time
import urllib.error
import urllib.request
from decimal import Decimal
from urllib.parse import urlencode


class ShippingError(Exception):
    """A response that refuses. Its code is such as insufficient_funds; never match on the message."""

    def __init__(self, status, envelope, retry_after=1):
        super().__init__(f"{status}: {envelope.get('message', 'no message')}")
        self.status = status
        self.retry_after = retry_after  # in seconds
        self.data = envelope.get("data") or {}
        self.code = self.data.get("error_code", "") if isinstance(self.data, dict) else ""


class Shipping:
    """The service at a base URL, under a secret key."""

    def __init__(self, base_url, key, sleep=time.sleep):
        self.base_url = base_url.rstrip("/")
        self.key = key
        self.sleep = sleep  # a test gives one that advances the world's clock

    def rates(self, per_page=100):
        """Yields every rate, page by page."""
        page, pages = 1, 1
        while page <= pages:
            data = self._read("/v1/rates", page=page, perPage=per_page)
            yield from data["rates"]
            pages = data["pagination"]["pageCount"]
            page += 1

    def create_shipment(self, parcel):
        """Creates a shipment."""
        return self._call("POST", "/v1/shipments", parcel)

    def analyze(self, shipment_id):
        """Creates the draft of a regulatory request for a shipment."""
        return self._call("POST", "/v1/regulatory-documents/analyze", {"shipment_id": shipment_id})

    def request(self, request_id):
        """Returns a regulatory request as it is now."""
        return self._read(f"/v1/regulatory-documents/request/{request_id}")

    def purchase(self, request_id, *document_types):
        """Charges the wallet once and returns the request.

        A purchase is never sent twice. If its response is lost, the request itself shows whether the wallet was
        charged: it is a draft no longer.
        """
        order = {"request_id": request_id, "document_types": document_types}
        try:
            self._call("POST", "/v1/regulatory-documents/purchase", order)
        except (OSError, http.client.HTTPException):
            if self.request(request_id)["status"] == "draft":
                raise
        return self.request(request_id)

    def _read(self, path, **query):
        """Calls GET, up to three times while the service is overloaded."""
        target = f"{path}?{urlencode(query)}" if query else path
        for _ in range(2):
            try:
                return self._call("GET", target)
            except ShippingError as error:
                if error.status not in (429, 503):
                    raise
                self.sleep(error.retry_after)
        return self._call("GET", target)

    def _call(self, method, target, body=None):
        call = urllib.request.Request(self.base_url + target, method=method)
        call.add_header("Authorization", f"Bearer {self.key}")
        if body is not None:
            call.add_header("Content-Type", "application/json")
            call.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(call, timeout=30) as response:
                # Decimal keeps amounts exact; a float does not.
                envelope = json.load(response, parse_float=Decimal)
                status = response.status
        except urllib.error.HTTPError as response:
            with response:
                wait = response.headers.get("Retry-After", "")
                error = ShippingError(response.code, _envelope(response), int(wait) if wait.isdecimal() else 1)
            raise error from None
        if not envelope["status"]:
            raise ShippingError(status, envelope)
        return envelope["data"]


def _envelope(response):
    """Returns the envelope of a refusal; a proxy's page has none."""
    try:
        return json.load(response, parse_float=Decimal)
    except ValueError:
        return {}
