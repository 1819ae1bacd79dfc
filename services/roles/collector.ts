import { join } from 'node:path'
import { createCollectorMetrics } from '../collector/metrics.ts'
import { createTerminalMetrics } from '../collector/sources/terminal/terminal-metrics.ts'
import { openDiskFolder } from '../collector/spool/disk-folder.ts'
import { openSpool, type Spool } from '../collector/spool/spool.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import { suggest } from '../core/suggest.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import { readTls } from '../platform/credentials/tls.ts'
import { readToken, tokenPath } from '../platform/credentials/token.ts'
import { folderFailure, pathReason } from '../platform/files/path-failures.ts'
import { formatAddress, reachable } from '../platform/listen.ts'
import { drainAndStop, type Stoppable } from '../platform/process/drain-and-stop.ts'
import { Fatal } from '../platform/process/exit.ts'
import { type ProcessContext, runProcess } from '../platform/process/process-context.ts'
import { startHealth } from '../platform/process/start-health.ts'
import { readManifests } from '../registry/manifests.ts'
import type { ClientIdentity } from '../wire/client.ts'
import { collect, createCollectors } from './collectors.ts'
import { createReload } from './feeds.ts'
import type { RoleOverrides } from './stores.ts'
import { Terminals, terminalsStopTimeoutMs } from './terminals.ts'

const mib = 1024 * 1024
const hourMs = 3_600_000

/** Opens the spool of a feed, in its own folder inside the data folder. */
export async function openSpoolOf(feed: FeedKey, { config, clock, log }: ProcessContext): Promise<Spool> {
  const path = join(config.dataDir, 'spool', feed.replace(':', '-'))
  try {
    const folder = await openDiskFolder(path)
    const bounds = { bytesMax: config.spoolMib * mib, ageMaxMs: config.spoolHours * hourMs }
    return await openSpool({ folder, clock, log, ...bounds })
  } catch (cause) {
    if (pathReason(cause) !== undefined) throw folderFailure(config.dataDir, cause)
    throw new Fatal('system', `The spool cannot be used: ${(cause as Error).message}`, cause)
  }
}

/** Maximum time to stop collectors; history that is not stored by then is read again at the next start. */
export const collectorsStopTimeoutMs = 2_000

export interface RunningCollector extends Stoppable {
  readonly opsPort: number
  /** Where the terminal posts; `undefined` for another source. */
  readonly terminalPort: number | undefined
  reload(): Promise<void>
}

/** Collects one feed and sends its bars to ingest. It needs no store and is ready as soon as it runs. */
export async function startCollector(
  config: Config,
  overrides: RoleOverrides = {},
): Promise<RunningCollector> {
  const path = config.feeds
  if (path === undefined) {
    throw new ConfigError('A collector needs the manifest of its feed: set FXD_FEEDS to that file or folder.')
  }
  const definition = await readDefinition(path, config.feed)
  identityOf(config)
  return runProcess(config, overrides, async (context) => {
    const { log, metrics, lifecycle } = context
    const health = await startHealth(context)
    const spool = await lifecycle.start({
      name: 'spool',
      start: () => openSpoolOf(definition.key, context),
      stop: (opened) => opened.close(),
    })
    const terminals = new Terminals(context)
    const feedDeps = { ...collectorDeps(context, terminals), spool, metrics: createCollectorMetrics(metrics) }
    const collectors = await lifecycle.start({
      name: 'collector',
      start: () => createCollectors((each) => collect(each, feedDeps), log),
      stop: (running) => running.stop(),
      stopTimeoutMs: collectorsStopTimeoutMs,
    })
    await lifecycle.start({
      name: 'terminals',
      start: () => terminals.follow([definition]),
      stop: () => terminals.close(),
      stopTimeoutMs: terminalsStopTimeoutMs,
    })
    collectors.follow([definition])
    health.listening()
    const change = async (): Promise<void> => {
      const changed = [await readDefinition(path, definition.key)]
      collectors.follow(changed)
      await terminals.follow(changed)
    }
    return {
      opsPort: health.port,
      get terminalPort() {
        return terminals.port
      },
      reload: createReload(path, change, log),
      ...drainAndStop(context, health, () => Promise.resolve()),
    }
  })
}

/** Returns the definition of FXD_FEED, or the only one. Throws if its source is Push. */
async function readDefinition(path: string, feed: string | undefined): Promise<FeedDefinition> {
  const { definitions } = await readManifests(path)
  const keys: string[] = definitions.map(({ key }) => key)
  const [only] = definitions
  const found =
    feed === undefined && definitions.length === 1 ? only : definitions.find(({ key }) => key === feed)
  if (!found) {
    const which = `${path} (FXD_FEEDS) holds ${keys.join(', ')}`
    if (feed === undefined) {
      throw new ConfigError(`A collector collects one feed, and ${which}: set FXD_FEED to one of them.`)
    }
    const near = suggest(feed, keys)
    throw new ConfigError(`FXD_FEED is "${feed}", but ${which}${near ? `; did you mean ${near}?` : '.'}`)
  }
  if (found.source.type !== 'Push') return found
  throw new ConfigError(
    `The source of ${found.key} is Push: another program sends its bars. Set FXD_FEED to another feed.`,
  )
}

/** Reads token and certificate at each connection: their files may be replaced. */
function identityOf(config: Config): ClientIdentity {
  const token = readToken(config)
  const tls = readTls(config)
  if (token !== undefined || tls?.pair) return { token, tls }
  throw new ConfigError(
    `A collector needs a token, and there is no file at ${tokenPath(config)}: set FXD_TOKEN_FILE (or FXD_TLS_CERT and FXD_TLS_KEY).`,
  )
}

function collectorDeps(
  { config, clock, log, metrics }: ProcessContext,
  terminals: Terminals,
): Parameters<typeof collect>[1] {
  const addresses = config.ingest.map((address) => formatAddress(reachable(address)))
  const identity = (): ClientIdentity => identityOf(config)
  const terminalMetrics = createTerminalMetrics(metrics)
  return { addresses, identity, clock, log, terminals: terminals.feeds, terminalMetrics }
}
