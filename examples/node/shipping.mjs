// A small client of the shipping service: the code under test. Replace it by your own.
import { setTimeout } from "node:timers/promises";

// A response that refuses. Its code is such as insufficient_funds; never match on the message.
export class ShippingError extends Error {
  constructor(status, envelope, retryAfter) {
    super(`${status}: ${envelope.message ?? "no message"}`);
    this.status = status;
    this.data = envelope.data ?? {};
    this.code = this.data.error_code ?? "";
    this.retryAfter = retryAfter; // in seconds
  }
}

// The service at a base URL, under a secret key.
export class Shipping {
  // A test gives a sleep that advances the world's clock.
  constructor(baseURL, key, sleep = (seconds) => setTimeout(seconds * 1000)) {
    this.baseURL = baseURL.replace(/\/+$/, "");
    this.key = key;
    this.sleep = sleep;
  }

  // Yields every rate, page by page.
  async *rates(perPage = 100) {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const data = await this.#read(`/v1/rates?page=${page}&perPage=${perPage}`);
      yield* data.rates;
      pages = data.pagination.pageCount;
    }
  }

  // Creates a shipment.
  createShipment(parcel) {
    return this.#call("POST", "/v1/shipments", parcel);
  }

  // Creates the draft of a regulatory request for a shipment.
  analyze(shipmentID) {
    return this.#call("POST", "/v1/regulatory-documents/analyze", { shipment_id: shipmentID });
  }

  // Returns a regulatory request as it is now.
  request(requestID) {
    return this.#read(`/v1/regulatory-documents/request/${encodeURIComponent(requestID)}`);
  }

  // Charges the wallet once and returns the request.
  //
  // A purchase is never sent twice. If its response is lost, the request itself shows whether the wallet was
  // charged: it is a draft no longer.
  async purchase(requestID, ...documentTypes) {
    const order = { request_id: requestID, document_types: documentTypes };
    try {
      await this.#call("POST", "/v1/regulatory-documents/purchase", order);
    } catch (error) {
      if (error instanceof ShippingError || (await this.request(requestID)).status === "draft") throw error;
    }
    return this.request(requestID);
  }

  // Calls GET, up to three times while the service is overloaded.
  async #read(target) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#call("GET", target);
      } catch (error) {
        if (![429, 503].includes(error.status) || attempt === 3) throw error;
        await this.sleep(error.retryAfter);
      }
    }
  }

  async #call(method, target, body) {
    const headers = { authorization: `Bearer ${this.key}` };
    if (body) headers["content-type"] = "application/json";
    const response = await fetch(this.baseURL + target, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new ShippingError(response.status, envelope(text), Number(response.headers.get("retry-after")) || 1);
    }
    const answer = JSON.parse(text);
    if (!answer.status) throw new ShippingError(response.status, answer, 1);
    return answer.data;
  }
}

// Returns the envelope of a refusal; a proxy's page has none.
function envelope(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
