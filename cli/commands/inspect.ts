import { isIcebergError } from '../../shared/base/index.ts';
import { parseTableIdentifier, type TablePointer } from '../../shared/catalog/index.ts';
import { printable } from '../../shared/display/index.ts';
import {
  describeUnsupported,
  isEncrypted,
  parseTableMetadata,
  snapshotOfRef,
  type TableMetadata,
  type UnsupportedMetadata,
} from '../../shared/iceberg/index.ts';
import { unmaintainable } from '../../shared/maintenance/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { describeMetadata, metadataToJson } from './describe-metadata.ts';
import { skippedTableText } from './reasons.ts';
import { describeFiles, filesToJson, surveyFiles } from './survey-files.ts';

const METADATA_FILE_BYTES_MAX = 256 * 1024 ** 2;

export interface InspectOptions {
  /** Read manifests, too. */
  readonly files: boolean;
}

/**
 * `firn inspect`: what the table is and how its files are. Also says what tables are that Firn does not maintain:
 * newer format versions, encrypted tables.
 */
export async function inspect(
  tableName: string,
  options: InspectOptions,
  session: Session,
): Promise<ExitCode> {
  const { catalog, store } = session.warehouse;
  session.progress.update(`${tableName}: reading metadata`);
  const pointer = await catalog.loadTable(parseTableIdentifier(tableName));
  const bytes = await store.read(pointer.metadataLocation, METADATA_FILE_BYTES_MAX);
  const metadata = parseOrDescribe(bytes, pointer);
  if ('reason' in metadata) {
    printUnsupported(tableName, pointer, { unsupported: metadata, session });
    return EXIT_CODES.done;
  }
  await printTable(tableName, { pointer, metadata, options, session });
  return EXIT_CODES.done;
}

type Unsupported = UnsupportedMetadata & { readonly reason: string };

/** The metadata, or what can be said of it where it is of a kind that Firn leaves alone. */
function parseOrDescribe(bytes: Uint8Array, pointer: TablePointer): TableMetadata | Unsupported {
  try {
    return parseTableMetadata(bytes, pointer.metadataLocation);
  } catch (error) {
    if (!isIcebergError(error, 'unsupported')) throw error;
    return { ...describeUnsupported(bytes, pointer.metadataLocation), reason: error.message };
  }
}

function printUnsupported(
  tableName: string,
  pointer: TablePointer,
  { unsupported, session }: { readonly unsupported: Unsupported; readonly session: Session },
): void {
  session.progress.clear();
  const { formatVersion, tableUuid, location, reason } = unsupported;
  if (session.isJson) {
    session.printJson({
      table: tableName,
      metadataLocation: pointer.metadataLocation,
      formatVersion: formatVersion ?? null,
      tableUuid: tableUuid ?? null,
      location: location ?? null,
      isMaintained: false,
      reason,
    });
    return;
  }
  session.print([
    `table ${printable(tableName)}, format v${formatVersion ?? '?'}`,
    `  location           ${printable(location ?? '(none)')}`,
    `  uuid               ${printable(tableUuid ?? '(none)')}`,
    `  metadata           ${printable(pointer.metadataLocation)}`,
    `not maintained by Firn: ${printable(reason)}`,
  ]);
}

async function printTable(
  tableName: string,
  {
    pointer,
    metadata,
    options,
    session,
  }: {
    readonly pointer: TablePointer;
    readonly metadata: TableMetadata;
    readonly options: InspectOptions;
    readonly session: Session;
  },
): Promise<void> {
  const obstacle = obstacleOf(metadata);
  const survey =
    options.files && obstacle?.isUnreadable !== true
      ? await surveyFiles(metadata, session.warehouse.store, (text) =>
          session.progress.update(`${tableName}: ${text}`),
        )
      : undefined;
  session.progress.clear();
  if (session.isJson) {
    session.printJson({
      table: tableName,
      metadataLocation: pointer.metadataLocation,
      previousMetadataLocation: pointer.previousMetadataLocation ?? null,
      ...metadataToJson(metadata),
      isMaintained: obstacle === undefined,
      reason: obstacle?.reason ?? null,
      ...(survey === undefined ? {} : { files: filesToJson(survey) }),
    });
    return;
  }
  const { widthMax } = session;
  session.print([
    ...describeMetadata(tableName, { pointer, metadata }, widthMax),
    ...(survey === undefined ? [] : describeFiles(survey, widthMax)),
    ...(obstacle === undefined ? [] : [`not maintained by Firn: ${printable(obstacle.reason)}`]),
  ]);
}

interface Obstacle {
  readonly reason: string;
  /** Whether the manifests cannot be read either. */
  readonly isUnreadable: boolean;
}

/** What keeps Firn from compacting the table, as far as its metadata tells. */
function obstacleOf(metadata: TableMetadata): Obstacle | undefined {
  if (isEncrypted(metadata)) return { reason: 'the table is encrypted', isUnreadable: true };
  const snapshot = snapshotOfRef(metadata);
  const skip = snapshot === undefined ? undefined : unmaintainable({ metadata }, snapshot);
  if (skip === undefined) return undefined;
  return {
    reason: `${skippedTableText(skip.reason)} (${skip.detail})`,
    isUnreadable: skip.reason === 'no-manifest-list',
  };
}
