"""The reference server for tests: a server, and a world (an isolated account) for each test."""

import json
import os
import secrets
import subprocess
import urllib.error
import urllib.request
from decimal import Decimal
from urllib.parse import urlencode

# The control surface is on this machine, whatever HTTP_PROXY contains.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Server:
    """The server at SHIPPING_BASE_URL, or, if that is not set, one that is started here on a free port.

    A server that was started here stops on close(), and when this process ends without it.
    MOCKSERVER is the command, if it is not on the PATH. MOCKSERVER_TOKEN is needed for a server on another machine,
    behind a proxy, or with a token of its own.
    """

    def __init__(self):
        self.process = None
        self.url = os.environ.get("SHIPPING_BASE_URL", "").rstrip("/")
        self.token = os.environ.get("MOCKSERVER_TOKEN", "")
        if not self.url:
            command = [os.environ.get("MOCKSERVER", "mockserver"), "serve", "-addr", "127.0.0.1:0", "-json", "-stdin"]
            # With -stdin the server stops when its input is closed: at the latest by the end of this process.
            try:
                self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            except OSError as error:
                raise RuntimeError(f"cannot start {command[0]}: {error.strerror}; install it, or set MOCKSERVER to its path") from None
            line = self.process.stdout.readline()  # written once the server accepts connections
            if not line:
                raise RuntimeError(f"{command[0]} did not start: its exit code is {self.process.wait()}")
            ready = json.loads(line)
            self.url, self.token = ready["url"], ready["token"] or self.token

    def close(self):
        """Stops the server if it was started here."""
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()

    def control(self, method, path, body=None, **query):
        """Calls a route under /_mock/ and returns its data. GET /_mock/ lists the routes."""
        call = urllib.request.Request(f"{self.url}/_mock/{path}?{urlencode(query)}", method=method)
        if self.token:
            call.add_header("X-Mock-Token", self.token)
        if body is not None:
            call.add_header("Content-Type", "application/json")
            call.data = json.dumps(body).encode()
        try:
            with _open(call, timeout=60) as response:
                return json.load(response, parse_float=Decimal)["data"]
        except urllib.error.HTTPError as response:
            with response:
                reason = response.read().decode()
            raise RuntimeError(f"{method} /_mock/{path}: {response.code}: {reason}") from None
        except urllib.error.URLError as error:
            raise RuntimeError(
                f"{method} /_mock/{path}: no mockserver responds on {self.url} (SHIPPING_BASE_URL): {error.reason}") from None


class World:
    """An account with wallets, shipments, webhooks, faults and a clock that no other test touches.

    The scenario virtual stands for a clock that moves by advance only; GET /_mock/ lists the others.
    """

    def __init__(self, server, scenario="virtual"):
        self.server = server
        opened = server.control("POST", "worlds", {"scenario": scenario, "name": secrets.token_hex(8)})
        self.name = opened["name"]
        self.key = opened["secret_key"]  # for the client; control routes take ?world=NAME
        self.wallets, self.shipments = opened["wallets"], opened["shipments"]

    def get(self, path, **query):
        """Calls a GET route under /_mock/ for this world."""
        return self.server.control("GET", path, world=self.name, **query)

    def post(self, path, **fields):
        """Calls a POST route under /_mock/ for this world; the fields are the body."""
        return self.server.control("POST", path, fields, world=self.name)

    def patch(self, path, **fields):
        """Calls a PATCH route under /_mock/ for this world; the fields are the body."""
        return self.server.control("PATCH", path, fields, world=self.name)

    def inject(self, operation, fault, **rule):
        """Adds a fault rule. GET /_mock/faults lists operations and kinds of faults."""
        return self.post("faults", rules=[{"operation": operation, "fault": fault, **rule}])

    def advance(self, duration):
        """Moves the clock by a duration such as 90s, or by a number of seconds."""
        self.post("clock/advance", duration=duration if isinstance(duration, str) else f"{duration}s")

    def wait_for(self, operation, timeout="30s"):
        """Returns the journal entry of the first request of an operation, as soon as it has arrived."""
        return self.get("journal", operation=operation, wait=timeout)[0]

    def journal(self, operation):
        """Returns the journal entries of an operation, oldest first."""
        return self.get("journal", operation=operation)

    def purchases(self):
        """Returns the ledger entries of purchases, newest first, and fails if the books do not add up."""
        books = self.get("ledger", perPage=1000)
        if books["problems"]:
            raise AssertionError(books["problems"])
        return [entry for entry in books["entries"] if entry["memo"].startswith("Regulatory documents")]

    def lint(self, *allowed):
        """Fails if a careful client would not have sent a request, or if documents were bought twice."""
        findings = [f for f in self.get("journal", **{"as": "findings"}) if f["rule"] not in allowed]
        if findings:
            raise AssertionError("\n".join(f"{f['rule']} ({f.get('detail')}): {f['advice']}" for f in findings))

    def balance(self, wallet):
        """Returns what a wallet holds, as a Decimal."""
        balances = {w["reference"]: w["balance"] for w in self.get("ledger", perPage=1)["wallets"]}
        if wallet not in balances:
            raise RuntimeError(f"no wallet {wallet}: the world has {', '.join(balances)}")
        return balances[wallet]

    def close(self):
        """Removes the world."""
        self.server.control("DELETE", f"worlds/{self.name}")
