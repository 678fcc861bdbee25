import { randomUuid } from '../../shared/base/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import { type CommitRequest, plannedDeletes } from '../../shared/table/commit-request.ts';
import { decide } from '../../shared/table/decide.ts';
import { createHeadReader } from '../../shared/table/head.ts';
import type { Table } from '../../shared/table/index.ts';
import { createPositionReader } from '../../shared/table/position-reader.ts';
import type { CommitProposal } from '../../shared/table/proposal.ts';
import { writeProposal } from '../../shared/table/propose.ts';
import { rereadOutputs } from '../../shared/table/reread.ts';
import { createStaging } from '../../shared/table/staging.ts';
import { asRun, ports, type Warehouse } from './replace-fixture.ts';

const FOLDER = 's3://bucket/db/orders/metadata';

/** What an attempt to commit the request on main would propose, everything written and read back; not verified. */
export async function proposalOf(
  warehouse: Warehouse,
  table: Table,
  request: CommitRequest,
): Promise<CommitProposal> {
  const testPorts = ports(warehouse);
  const { metadata: base, metadataLocation: baseMetadataLocation } = table;
  const head = snapshotOfRef(base)!;
  const headManifests = await testPorts.reader.readList(base, head);
  const headReader = createHeadReader(request, testPorts.reader);
  await headReader.readNew(base, headManifests);
  const headFacts = headReader.facts(headManifests);
  const names = { snapshotId: 4711n, commitUuid: randomUuid(warehouse.random) };
  const positions = createPositionReader(testPorts.store);
  const decision = await decide(request, { base, head, facts: headFacts }, positions);
  const objects = {
    manifestList: `${FOLDER}/list.avro`,
    metadataLocation: `${FOLDER}/00003-new.metadata.json`,
  };
  const outputs = await rereadOutputs(
    request.groups.flatMap((group) => group.outputs),
    warehouse.store,
  );
  return asRun(testPorts, async (commitPorts) => {
    await commitPorts.run.nameObjects(Object.values(objects), 'attempt-lost');
    const staging = createStaging(names, commitPorts);
    const attempt = {
      ...decision,
      ...objects,
      ...{ attempt: 1, names, branch: 'main', base, baseMetadataLocation, head },
      ...{ headManifests, headFacts, outputs, summaryExtra: {} },
      startingSequenceNumber: request.startingSequenceNumber,
      newDeletes: [
        ...plannedDeletes(decision),
        ...(await staging.deletes.stage(base, decision.outputDeletes)),
      ],
    };
    return (await writeProposal(attempt, staging, commitPorts)).proposal;
  });
}
