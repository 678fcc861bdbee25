import { createServer, type Server } from 'node:http';
import type { TestContext } from 'node:test';
import { startDynamoDbEndpoint } from '../../local/dynamodb-endpoint/index.ts';
import { type S3FaultHook, startS3Endpoint } from '../../local/s3-endpoint/index.ts';
import { systemClock, systemRandom } from '../../shared/base/index.ts';
import { createCatalogTable } from '../../shared/catalog/index.ts';
import { initLedger, openWarehouse, type Warehouse } from '../../shared/warehouse/index.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

export interface TestCloud {
  readonly catalogUrl: string;
  /** As `catalogUrl`, through a proxy that refuses the DynamoDB operation. */
  refusing(operation: string): Promise<string>;
  readonly warehouse: Warehouse;
}

/** S3 and DynamoDB on loopback as long as the test, with an empty catalog and one bucket. */
export async function startTestCloud(
  context: TestContext,
  faults: S3FaultHook,
  { hasLedger = true }: { readonly hasLedger?: boolean } = {},
): Promise<TestCloud> {
  const s3 = await startS3Endpoint({ buckets: ['bucket', 'warehouse', 'firn-state'], faults });
  const dynamoDb = await startDynamoDbEndpoint();
  context.after(async () => {
    await s3.close();
    await dynamoDb.close();
  });
  await createCatalogTable({
    tableName: 'iceberg',
    region: 'us-east-1',
    endpoint: dynamoDb.endpoint,
    credentials,
    clock: systemClock,
    random: systemRandom,
  });
  const urlOf = (endpoint: string): string =>
    `dynamodb://us-east-1/iceberg?endpoint=${endpoint}&s3-endpoint=${s3.endpoint}&state=s3://firn-state/ledger/`;
  const catalogUrl = urlOf(dynamoDb.endpoint);
  const warehouseOptions = { catalogUrl, credentials, clock: systemClock, random: systemRandom };
  if (hasLedger) await initLedger(warehouseOptions);
  return {
    catalogUrl,
    refusing: async (operation) => urlOf(await startProxy(context, dynamoDb.endpoint, operation)),
    warehouse: openWarehouse(warehouseOptions),
  };
}

/** Passes requests on to DynamoDB, but answers those of one operation as the service does without the right. */
async function startProxy(
  context: TestContext,
  target: string,
  operation: string,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.headers['x-amz-target'] === `DynamoDB_20120810.${operation}`) {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(
        JSON.stringify({
          __type: 'com.amazon.coral.service#AccessDeniedException',
          Message: `User is not authorized to perform: dynamodb:${operation}`,
        }),
      );
      return;
    }
    const { host: _h, connection: _c, 'content-length': _l, ...headers } = request.headers;
    const answer = await fetch(target, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => closeServer(server));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new TypeError('server has no port');
  return `http://127.0.0.1:${address.port}`;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
