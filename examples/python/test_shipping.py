"""Tests of shipping.py against the reference server: python3 -m unittest, in this folder."""

import hashlib
import hmac
import http.client
import http.server
import json
import os
import queue
import subprocess
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import mockserver
import shipping


def setUpModule():
    global server
    server = mockserver.Server()
    unittest.addModuleCleanup(server.close)


class ShippingTest(unittest.TestCase):
    def open_world(self, scenario="virtual"):
        """Opens a world for this test, and a client of it."""
        world = mockserver.World(server, scenario)
        self.addCleanup(world.close)
        return world, shipping.Shipping(server.url, world.key, sleep=world.advance)

    def test_rates_are_listed_page_by_page(self):
        world, client = self.open_world()
        ids = [rate["rate_id"] for rate in client.rates(per_page=100)]
        self.assertEqual((len(ids), len(set(ids))), (250, 250))
        self.assertEqual(
            [call["query"] for call in world.journal("rates.list")],
            ["page=1&perPage=100", "page=2&perPage=100", "page=3&perPage=100"],
        )

    def test_lost_response_charges_once(self):
        world, client = self.open_world()
        draft = client.analyze(world.shipments[0])
        # The wallet is charged, and then the connection is closed without a response.
        world.inject("regulatory.purchase", {"kind": "drop"}, first=1, committed=True)
        bought = client.purchase(draft["request_id"], "CUSTOMS", "FDA")
        self.assertEqual(bought["status"], "processing")
        self.assertEqual(len(world.journal("regulatory.purchase")), 1)
        [entry] = world.purchases()
        self.assertEqual(entry["reference"], draft["request_id"])
        self.assertEqual(entry["amount"], bought["charged_amount"])
        world.lint()

    def test_a_program_that_starts_over_buys_twice(self):
        world, client = self.open_world()
        for _ in range(2):
            client.purchase(client.analyze(world.shipments[0])["request_id"], "CUSTOMS")
        with self.assertRaisesRegex(AssertionError, "bought-twice .*CUSTOMS"):
            world.lint()
        world.lint("bought-twice")

    def test_insufficient_funds(self):
        world, client = self.open_world("lowfunds-virtual")
        draft = client.analyze(world.shipments[0])
        with self.assertRaises(shipping.ShippingError) as caught:
            client.purchase(draft["request_id"], "CUSTOMS")
        self.assertEqual(caught.exception.code, "insufficient_funds")
        self.assertEqual(world.purchases(), [])

        missing = caught.exception.data["needed"] - caught.exception.data["balance"]
        world.patch("ledger", fund=[{"wallet": draft["wallet"], "amount": str(missing)}])
        client.purchase(draft["request_id"], "CUSTOMS")
        self.assertEqual(world.balance(draft["wallet"]), 0)
        with self.assertRaisesRegex(RuntimeError, f"no wallet VA-1: the world has {', '.join(world.wallets)}"):
            world.balance("VA-1")

    def test_webhook_is_received_and_signed(self):
        world, _ = self.open_world()
        receiver = Receiver()
        self.addCleanup(receiver.close)
        world.post("webhooks", url=receiver.url, events=["shipment.delivered"])
        world.post("events", event="shipment.delivered", shipment_id=world.shipments[0])
        headers, body = receiver.received.get(timeout=30)
        # The signature is over the bytes as they came: do not decode and encode them again.
        signature = hmac.new(world.key.encode(), body, hashlib.sha512).hexdigest()
        self.assertTrue(hmac.compare_digest(signature, headers["X-Webhook-Signature"]))
        self.assertIn(world.shipments[0].encode(), body)

    def test_a_notification_comes_twice(self):
        world, _ = self.open_world()
        receiver = Receiver()
        self.addCleanup(receiver.close)
        world.post("webhooks", url=receiver.url)
        world.inject("notification", {"kind": "repeat-notification"}, first=1)
        world.post("events", event="shipment.updated", shipment_id=world.shipments[0])
        first, again = receiver.received.get(timeout=30), receiver.received.get(timeout=30)
        self.assertEqual(first[0]["X-Webhook-Delivery-Id"], again[0]["X-Webhook-Delivery-Id"])
        self.assertEqual(first[1], again[1])

    def test_documents_are_generated_as_time_passes(self):
        world, client = self.open_world()
        draft = client.analyze(world.shipments[0])
        self.assertEqual(client.purchase(draft["request_id"], "CUSTOMS")["status"], "processing")
        world.advance("1h")
        self.assertEqual(client.request(draft["request_id"])["status"], "completed")

    def test_a_shipment_of_the_test(self):
        world, client = self.open_world()
        documents = [{"document_type": "CUSTOMS", "amount": 1500.5}]
        added = world.post("shipments", line_items=[{"hs_code": "910211"}], documents=documents)
        [offer] = client.analyze(added["shipment_id"])["available_documents"]
        self.assertEqual((offer["document_type"], offer["amount"]), ("CUSTOMS", 1500.5))

    def test_a_route_beside_the_specified_ones(self):
        world, client = self.open_world()
        response = json.dumps({"status": True, "message": "Created", "data": {"shipment_id": world.shipments[0]}})
        world.post("stubs", method="POST", pattern="/v1/shipments", status=201, body=response)
        created = client.create_shipment({"weight": 3})
        self.assertEqual(client.analyze(created["shipment_id"])["status"], "draft")
        [call] = world.journal("POST /v1/shipments")
        self.assertEqual((call["status"], call["request_body"]), (201, '{"weight": 3}'))

    def test_another_service_with_a_key_of_its_own(self):
        world, _ = self.open_world()
        rates = f"/fx/{world.name}/rates"  # its own path: one world of a server has the open stub of a path
        world.post("stubs", method="POST", pattern=rates, open=True, nth=1, status=503)
        world.post("stubs", method="POST", pattern=rates, open=True, match={"to": "NGN"}, body='{"rate": 1476.04}')
        service = http.client.HTTPConnection(server.url.removeprefix("http://"))
        self.addCleanup(service.close)
        statuses = []
        for currency in "NGN", "NGN", "GHS":
            body = json.dumps({"from": "USD", "to": currency})
            service.request("POST", rates, body, {"Authorization": "Bearer fx-key", "Content-Type": "application/json"})
            response = service.getresponse()
            response.read()
            statuses.append(response.status)
        self.assertEqual(statuses, [503, 200, 404])
        self.assertEqual(len(world.journal(f"POST {rates}")), 3)

    def test_retry_after_is_respected(self):
        world, client = self.open_world()
        fault = {"kind": "status", "status": 503, "header": {"Retry-After": "7"}}
        world.inject("rates.list", fault, first=2)
        self.assertEqual(len(list(client.rates(per_page=250))), 250)
        first, second, third = world.journal("rates.list")
        self.assertEqual([first["status"], second["status"], third["status"]], [503, 503, 200])
        # Each call has the time of the world's clock, which only the client's sleep moved.
        self.assertEqual([call["at"][17:19] for call in (first, second, third)], ["00", "07", "14"])

    def test_two_outcomes_of_one_state(self):
        def analyzed():  # opens a world in that state
            world, client = self.open_world()
            return world, client, client.analyze(world.shipments[0])

        for documents in (["CUSTOMS"], ["CUSTOMS", "FDA"]):
            world, client, draft = analyzed()
            bought = client.purchase(draft["request_id"], *documents)
            self.assertEqual([document["document_type"] for document in bought["documents"]], documents)
            self.assertEqual(len(world.purchases()), 1)

    def test_a_call_in_the_background_is_awaited(self):
        world, client = self.open_world()
        with ThreadPoolExecutor() as pool:
            worker = pool.submit(client.analyze, world.shipments[0])
            self.assertEqual(world.wait_for("regulatory.analyze")["status"], 200)
            self.assertEqual(worker.result()["status"], "draft")

    def test_twenty_worlds_at_once(self):
        count = 20
        together = threading.Barrier(count)

        def buy(number):
            world, client = self.open_world()
            world.patch("ledger", exchange_rates={"NGN": 1000 + number})
            draft = client.analyze(world.shipments[0])
            together.wait(timeout=60)
            client.purchase(draft["request_id"], "CUSTOMS")
            return world, draft

        with ThreadPoolExecutor(count) as pool:
            bought = list(pool.map(buy, range(count)))
        for number, (world, draft) in enumerate(bought):
            [entry] = world.purchases()
            self.assertEqual(entry["reference"], draft["request_id"])
            self.assertEqual(entry["amount"], 4 * (1000 + number))  # CUSTOMS costs 4 dollars
            self.assertEqual(len(world.journal("regulatory.purchase")), 1)


class ServerTest(unittest.TestCase):
    def test_a_server_that_is_not_closed_stops_with_its_process(self):
        # The server inherits standard error, so run() returns only when the server has stopped too.
        code = "import mockserver; server = mockserver.Server(); print(server.url)"
        environment = {name: value for name, value in os.environ.items() if name != "SHIPPING_BASE_URL"}
        ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertIn("http://127.0.0.1:", ended.stdout)


class Receiver:
    """Receives webhook notifications on a free port of this machine, into a queue."""

    def __init__(self):
        self.received = received = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                received.put((self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    unittest.main()
