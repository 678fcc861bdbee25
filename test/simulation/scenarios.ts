import type { Scenario } from './scenario.ts';
import { COMMITS } from './scenarios/commits.ts';
import { DELETES } from './scenarios/deletes.ts';
import { EVENTS } from './scenarios/events.ts';
import { OBSERVE } from './scenarios/observe.ts';

/** What `--scenario` understands. A new one is a file of the folder `scenarios` and a line here. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  commits: COMMITS,
  deletes: DELETES,
  events: EVENTS,
  observe: OBSERVE,
};
