/** What the firn command takes from its environment; everything else is an option. */
export interface CliConfig {
  readonly catalogUrl?: string;
  readonly s3Endpoint?: string;
}

/** Reads the environment once, at start. */
export function readCliConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): CliConfig {
  return {
    ...(env.FIRN_CATALOG ? { catalogUrl: env.FIRN_CATALOG } : {}),
    ...(env.AWS_ENDPOINT_URL_S3 ? { s3Endpoint: env.AWS_ENDPOINT_URL_S3 } : {}),
  };
}
