import { assert, serializeJson } from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';
import type { Item } from './item-store.ts';
import { itemFields, newBody } from './record.ts';
import {
  parseReport,
  REPORT_PREFIX,
  type Report,
  type ReportDetails,
  reportIndexKey,
  reportSort,
  type StoredReport,
  serializeReport,
  skipKey,
} from './report-record.ts';
import type { RunPorts } from './run.ts';
import { removeSettled, writeSettled } from './settled-write.ts';
import { readState, writeState } from './state-store.ts';

export interface ReportQuery {
  readonly table: string;
  readonly reportCountMax: number;
  /** Of the page before. */
  readonly cursor?: string;
}

export interface ReportPage {
  /** The newest first. */
  readonly reports: readonly Report[];
  /** Where the next page begins; undefined when there is none. */
  readonly cursor?: string;
}

/** A season: long enough to compare one month with another. */
const REPORT_TTL_MS = 92 * 24 * 60 * 60 * 1000;

/** Larger details go to the state store, whose objects should live as long as reports do. */
const INLINE_BYTES_MAX = 32 * 1024;

/** One report for each run, and one for each time that an operation is skipped for another reason than before. */
export class Reports {
  readonly #ports: RunPorts;

  constructor(ports: RunPorts) {
    this.#ports = ports;
  }

  /**
   * Writes the report of a run; of several for one run id, the first counts. Two writes and one read, and a PUT
   * when the details are large.
   */
  async writeRun(report: Report, details?: ReportDetails): Promise<void> {
    await this.#write(report, details);
    // From now on, even the old reason is news again.
    const skip = await this.#ports.items.read(skipKey(report));
    if (skip !== undefined) await removeSettled(skip, this.#ports);
  }

  /**
   * Writes the report of an operation that did not run, unless the last thing reported of it was the same
   * reason. One read, and three writes if it is news; two processes at once may both report it.
   *
   * @param sameness what makes it the same, where that is more than the reason
   */
  async writeSkip(
    report: Report,
    details?: ReportDetails,
    sameness: string = report.reason,
  ): Promise<'written' | 'unchanged'> {
    const skip = await this.#ports.items.read(skipKey(report));
    if (skip !== undefined && itemFields(skip).text('reason') === sameness) return 'unchanged';
    await this.#write(report, details);
    // A conflict means that somebody else has just reported a reason.
    await writeSettled(
      {
        ...skipKey(report),
        body: newBody({ reason: sameness }),
        baseRevision: skip?.revision,
      },
      this.#ports,
    );
    return 'written';
  }

  /** A run's report, and its details where it has any. Two reads, and a GET when the details are large. */
  async read(
    table: string,
    runId: string,
  ): Promise<{ readonly report: Report; readonly details?: ReportDetails } | undefined> {
    const index = await this.#ports.items.read(reportIndexKey(table, runId));
    if (index === undefined) return undefined;
    const sort = itemFields(index).text('report');
    const item = await this.#ports.items.read({ partition: table, sort });
    if (item === undefined || this.#isExpired(item)) return undefined;
    const { report, details, detailsLocation } = parseReport(item);
    if (details !== undefined) return { report, details };
    if (detailsLocation === undefined) return { report };
    const state = await readState(detailsLocation, this.#ports.state);
    return { report, details: state.object('details') };
  }

  /** A page of a table's reports. One query. */
  async list({ table, reportCountMax, cursor }: ReportQuery): Promise<ReportPage> {
    assert(reportCountMax >= 1, `reports: a page of ${reportCountMax}`);
    const page = await this.#ports.items.query({
      partition: table,
      sortPrefix: REPORT_PREFIX,
      order: 'descending',
      ...(cursor === undefined ? {} : { afterSort: cursor }),
      itemCountMax: reportCountMax,
    });
    // The store takes its time with removing what has expired.
    const current = page.filter((item) => !this.#isExpired(item));
    const last = page.length < reportCountMax ? undefined : page.at(-1)?.sort;
    return {
      reports: current.map((item) => parseReport(item).report),
      ...(last === undefined ? {} : { cursor: last }),
    };
  }

  async #write(report: Report, details: ReportDetails | undefined): Promise<void> {
    const { table, runId } = report;
    const expiresAtMs = report.createdAtMs + REPORT_TTL_MS;
    // First, so that a run that reports again finds the place of its report and takes no other.
    const index = await writeSettled(
      {
        ...reportIndexKey(table, runId),
        body: newBody({ report: reportSort(report) }),
        expiresAtMs,
        baseRevision: undefined,
      },
      this.#ports,
    );
    const item = index.outcome === 'written' ? index.item : index.current;
    const sort = item === undefined ? reportSort(report) : itemFields(item).text('report');
    await writeSettled(
      {
        partition: table,
        sort,
        body: serializeReport(await this.#placeDetails(report, details)),
        expiresAtMs,
        baseRevision: undefined,
      },
      this.#ports,
    );
  }

  async #placeDetails(report: Report, details: ReportDetails | undefined): Promise<StoredReport> {
    const isSmall =
      details === undefined || encodeUtf8(serializeJson(details)).length <= INLINE_BYTES_MAX;
    if (isSmall) return { report, details, detailsLocation: undefined };
    const folder = `reports/${report.runId}`;
    const detailsLocation = await writeState({ folder, fields: { details } }, this.#ports);
    return { report, details: undefined, detailsLocation };
  }

  #isExpired({ expiresAtMs }: Item): boolean {
    return expiresAtMs !== undefined && this.#ports.clock.nowMs() >= expiresAtMs;
  }
}
