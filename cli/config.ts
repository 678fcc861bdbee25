/** What the firn command takes from its environment; everything else is an option. */
export interface CliConfig {
  readonly catalogUrl?: string;
  readonly s3Endpoint?: string;
  readonly ledgerTable?: string;
  readonly stateLocation?: string;
}

/** Reads the environment once, at start. */
export function readCliConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): CliConfig {
  return {
    ...(env.FIRN_CATALOG ? { catalogUrl: env.FIRN_CATALOG } : {}),
    ...(env.FIRN_LEDGER_TABLE ? { ledgerTable: env.FIRN_LEDGER_TABLE } : {}),
    ...(env.FIRN_STATE_LOCATION ? { stateLocation: env.FIRN_STATE_LOCATION } : {}),
    ...(env.AWS_ENDPOINT_URL_S3 ? { s3Endpoint: env.AWS_ENDPOINT_URL_S3 } : {}),
  };
}
