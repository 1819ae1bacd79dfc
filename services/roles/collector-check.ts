import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CheckOptions, checkCollector } from '../collector-check/check.ts'
import type { Finding } from '../collector-check/findings.ts'
import { MovedClock } from '../collector-check/moved-clock.ts'
import { utcMs } from '../core/clocks/feed-clock.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import { createFeedTokens } from '../ingest/credentials/feed-tokens.ts'
import { type Config, parseConfig } from '../platform/config.ts'
import { readTls } from '../platform/credentials/tls.ts'
import { ensureToken } from '../platform/credentials/token.ts'
import { silentLog } from '../platform/log/log.ts'
import { Fatal } from '../platform/process/exit.ts'
import type { Clock } from '../ports/clock.ts'
import { readManifests } from '../registry/manifests.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { startIngest } from './ingest.ts'

const dayMs = 86_400_000

export type { Finding }

export interface CollectorCheckOptions
  extends Pick<CheckOptions, 'host' | 'port' | 'ending' | 'say' | 'onWrong'> {
  readonly clock: Clock
  /** Called once a collector can connect. */
  readonly onReady: (at: {
    readonly port: number
    readonly feeds: readonly FeedKey[]
    readonly tokenFile: string
  }) => void
}

/** Checks a collector against an ingest of this process. Its store is a temporary folder, which is removed at the end. */
export async function runCollectorCheck(
  { feeds, tlsCert, tlsKey, tlsCa }: Pick<Config, 'feeds' | 'tlsCert' | 'tlsKey' | 'tlsCa'>,
  options: CollectorCheckOptions,
): Promise<readonly Finding[]> {
  if (feeds === undefined)
    throw new Fatal(
      'config',
      'FXD_FEEDS is not set: name the file with the manifest of the feed that the collector brings.',
    )
  const { definitions } = await readManifests(feeds)
  const tls = readTls({ tlsCert, tlsKey, tlsCa })
  const folder = mkdtempSync(join(tmpdir(), 'fxd-collector-check-'))
  try {
    const clock = new MovedClock(options.clock)
    const keys = definitions.map(({ key }) => key)
    const tokenFile = join(folder, 'collector.token')
    const ingest = await startOwnIngest(folder, feeds, clock.clock)
    try {
      const secret = ensureToken({ dataDir: folder, tokenFile: undefined }, options.clock)
      const tokens = createFeedTokens(() => [secret], options.clock)
      writeFileSync(tokenFile, `${await tokens.issue(keys, utcMs(options.clock.utcMs() + dayMs))}\n`, {
        mode: 0o600,
      })
      return await checkCollector({
        ...options,
        clock,
        ingest: `127.0.0.1:${ingest.port}`,
        tls: tls && { value: tls, onChange: () => undefined },
        onListening: (port) => options.onReady({ port, feeds: keys, tokenFile }),
      })
    } finally {
      await ingest.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts an ingest on loopback with an empty embedded store. */
async function startOwnIngest(folder: string, feeds: string, clock: Clock) {
  ensureToken({ dataDir: folder, tokenFile: undefined }, clock)
  const anyPort = '127.0.0.1:0'
  const config = parseConfig(
    { FXD_FEEDS: feeds, FXD_DATA_DIR: folder, FXD_GRPC_ADDR: anyPort, FXD_OPS_ADDR: anyPort },
    'ingest',
  )
  const stores = await openEmbeddedStores({ folder: join(folder, 'store'), clock, log: silentLog })
  const opened = { stores, areRemote: false, connect: () => Promise.resolve() }
  const ingest = await startIngest(config, { clock, log: silentLog, stores: opened })
  return { port: ingest.grpcPort, stop: () => ingest.stop() }
}
