// The sections in the order of their keys, 1 to 7.

import { countries } from "./countries.js";
import { faults } from "./faults.js";
import { forms } from "./forms.js";
import { money } from "./money.js";
import { requests } from "./requests.js";
import { webhooks } from "./webhooks.js";
import { worlds } from "./worlds.js";

export const sections = [
  { id: "requests", title: "Requests", icon: "requests", make: requests, counted: "calls" },
  { id: "money", title: "Money", icon: "money", make: money, counted: "entries" },
  { id: "forms", title: "Forms", icon: "forms", make: forms, counted: "requests" },
  { id: "webhooks", title: "Webhooks", icon: "webhooks", make: webhooks },
  { id: "countries", title: "Countries", icon: "countries", make: countries },
  { id: "faults", title: "Faults", icon: "faults", make: faults },
  { id: "worlds", title: "Worlds", icon: "worlds", make: worlds },
];
