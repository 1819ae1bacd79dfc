import { Unavailable } from '../../../core/failure.ts'
import type { ServerQueries } from '../exec.ts'

/** The oldest QuestDB on which all suites ran. */
export const versionMin = '9.3.4'

export interface ServerFacts {
  /** As the server reports it, such as `9.3.4`; `undefined` when it reports none. */
  readonly version: string | undefined
  readonly isTooOld: boolean
  readonly commitMode: string
  /** Whether a commit survives a loss of power. */
  readonly isSynced: boolean
  /** Whether a row that names an unknown table or column creates it, in a layout that is not ours. */
  readonly makesTables: boolean
  /** Connections for reading; `undefined` when the server reports none. A further connection hangs without an error. */
  readonly connectionsMax: number | undefined
  /** Threads that accept rows and answer HTTP; `undefined` when the server reports none. */
  readonly httpWorkers: number | undefined
}

export async function serverFacts(admin: ServerQueries): Promise<ServerFacts> {
  const [build] = await admin.exec('SELECT build')
  const version = /QuestDB (\d+(?:\.\d+)*)/.exec(String(build?.[0]))?.[1]
  const parameters = await parametersOf(admin, ['pg.net.connection.limit', ...workerPaths, ...makingTables])
  const commitMode = parameters.get('cairo.commit.mode') ?? 'unknown'
  const connectionsMax = Number(parameters.get('pg.net.connection.limit'))
  return {
    version,
    isTooOld: version !== undefined && isOlder(version, versionMin),
    commitMode,
    // The server accepts every other value, misspelt ones included, without an error, and then waits for no disk.
    isSynced: commitMode === 'sync',
    makesTables: makingTables.some((path) => parameters.get(path) === 'true'),
    connectionsMax: Number.isNaN(connectionsMax) ? undefined : connectionsMax,
    httpWorkers: workerPaths.map((path) => Number(parameters.get(path))).find((count) => count > 0),
  }
}

/** Parameters with the number of HTTP threads; the first value above 0 counts. HTTP may share threads with all network traffic. */
const workerPaths = ['http.worker.count', 'shared.network.worker.count', 'shared.worker.count']
const makingTables = ['line.auto.create.new.tables', 'line.auto.create.new.columns']

/** Maximum attempts. While two clients list parameters, 9.3.4 fails one query or omits lines; a retry is harmless. */
const asksMax = 5

export async function parametersOf(
  admin: ServerQueries,
  wanted: readonly string[],
  asks = 1,
): Promise<ReadonlyMap<string, string>> {
  // Every server reports this one: an answer without it lacks lines.
  const paths = ['cairo.commit.mode', ...wanted]
  const list = paths.map((path) => `'${path}'`).join(', ')
  try {
    const rows = await admin.exec(
      `SELECT property_path, value FROM (SHOW PARAMETERS) WHERE property_path IN (${list})`,
    )
    const parameters = new Map(rows.map(([path, value]) => [String(path), String(value)]))
    if (!parameters.has('cairo.commit.mode')) throw new Error('QuestDB left out its commit mode')
    return parameters
  } catch (cause) {
    if (asks >= asksMax) throw new Unavailable('store', cause)
    return parametersOf(admin, wanted, asks + 1)
  }
}

function isOlder(version: string, than: string): boolean {
  const [have, want] = [version, than].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const at = want.findIndex((part, i) => (have[i] ?? 0) !== part)
  return at >= 0 && (have[at] ?? 0) < (want[at] as number)
}
