// The sections in the order of their keys, 1 to 8. Each has the name of its route below /_mock/.

import { countries } from "./countries.js";
import { faults } from "./faults.js";
import { journal } from "./journal.js";
import { ledger } from "./ledger.js";
import { regulatoryRequests } from "./regulatoryrequests.js";
import { requests } from "./requests.js";
import { webhooks } from "./webhooks.js";
import { worlds } from "./worlds.js";

export const sections = [
  { id: "journal", title: "Journal", icon: "journal", make: journal, counted: "journal_entries" },
  { id: "requests", title: "Send requests", short: "Send", icon: "send", make: requests },
  { id: "ledger", title: "Ledger", icon: "ledger", make: ledger, counted: "ledger_entries" },
  { id: "regulatory-requests", title: "Regulatory requests", short: "Regulatory", icon: "documents", make: regulatoryRequests, counted: "regulatory_requests" },
  { id: "webhooks", title: "Webhooks", icon: "webhooks", make: webhooks },
  { id: "countries", title: "Countries", icon: "countries", make: countries },
  { id: "faults", title: "Faults", icon: "faults", make: faults },
  { id: "worlds", title: "Worlds", icon: "worlds", make: worlds },
];
