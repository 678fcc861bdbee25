const MB = 1_000_000;

/** The largest memory that this process has had resident, in MB of 10^6 bytes. */
export function peakRssMb(): number {
  return (process.resourceUsage().maxRSS * 1024) / MB;
}

/** User and system time that this process has used, in seconds. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}
