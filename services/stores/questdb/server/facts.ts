import type { Administration } from '../exec.ts'

/** The oldest QuestDB that all suites ran on. */
export const versionMin = '9.3.4'

export interface ServerFacts {
  /** As the server tells it, such as `9.3.4`; `undefined` when it tells none. */
  readonly version: string | undefined
  /** Older than `versionMin`. */
  readonly isTooOld: boolean
  readonly commitMode: string
  /** Whether a commit survives a loss of power. */
  readonly isSynced: boolean
}

export async function serverFacts(admin: Administration): Promise<ServerFacts> {
  const [build] = await admin.exec('SELECT build')
  const version = /QuestDB (\d+(?:\.\d+)*)/.exec(String(build?.[0]))?.[1]
  const commitMode = await commitModeOf(admin)
  return {
    version,
    isTooOld: version !== undefined && isOlder(version, versionMin),
    commitMode,
    // Every other value, misspelt ones included, is taken without a word and waits for no disk.
    isSynced: commitMode === 'sync',
  }
}

/** 9.3.4 fails one of two that list its parameters in one moment, with a 500 and a cast error: asking again is harmless. */
const asksMax = 5

async function commitModeOf(admin: Administration, asks = 1): Promise<string> {
  const parameter = `SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'cairo.commit.mode'`
  try {
    const [mode] = await admin.exec(parameter)
    return String(mode?.[0] ?? 'unknown')
  } catch (cause) {
    if (asks >= asksMax) throw cause
    return commitModeOf(admin, asks + 1)
  }
}

function isOlder(version: string, than: string): boolean {
  const [have, want] = [version, than].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const at = want.findIndex((part, i) => (have[i] ?? 0) !== part)
  return at >= 0 && (have[at] ?? 0) < (want[at] as number)
}
