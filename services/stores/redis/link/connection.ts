import { Redis } from 'ioredis'
import { WrongServer } from '../../../core/failure.ts'
import { Backoff } from '../../../platform/backoff.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { within } from '../../../platform/within.ts'
import type { RedisAt, RedisStoreOptions } from '../options.ts'
import { scripts } from '../scripts.ts'
import { NotCarriedOut } from './outcomes.ts'
import { QuietSentinelConnector } from './sentinel-connector.ts'
import { factsOf, type ServerFacts } from './server-facts.ts'

const handshakeMs = 2_000
const connecting = 'connecting to Redis'
const delayMinMs = 50
const delayMaxMs = 2_000

export interface Ready {
  readonly redis: Redis
  readonly run: string
}

export interface ConnectionDeps extends Pick<RedisStoreOptions, 'at' | 'clock' | 'log'> {
  readonly judge: (facts: ServerFacts) => void
}

/** One connection to the primary, reopened whenever it is lost. While it is lost, nothing is queued or sent again. */
export class Connection {
  readonly #deps: ConnectionDeps
  readonly #name: string
  readonly #ending = new AbortController()
  readonly #onReady = new Set<() => void>()
  #ready: Ready | undefined
  #cause: unknown
  readonly #outage: OutageLog
  #lost: () => void = () => undefined
  #nextReady = Promise.withResolvers<void>()

  constructor(name: string, deps: ConnectionDeps) {
    this.#name = name
    this.#deps = deps
    this.#outage = new OutageLog({ ...deps, about: { connection: name } })
    void this.#keep()
  }

  /** `undefined` while the primary is unavailable. */
  get ready(): Ready | undefined {
    return this.#ready
  }

  get closed(): boolean {
    return this.#ending.signal.aborted
  }

  /** Calls `listen` each time that a primary was reached. */
  onReady(listen: () => void): void {
    this.#onReady.add(listen)
    if (this.#ready) listen()
  }

  /** `undefined` once this is closed. */
  async whenReady(): Promise<Ready | undefined> {
    while (!this.#ready && !this.closed) await this.#nextReady.promise
    return this.closed ? undefined : this.#ready
  }

  /** Rejects with `WrongServer`, or with `NotCarriedOut` when the primary is unavailable. */
  async connected(): Promise<void> {
    const { clock } = this.#deps
    await within(clock, handshakeMs, connecting, this.whenReady()).catch(() => undefined)
    if (this.#ready) return
    throw this.#cause instanceof WrongServer ? this.#cause : new NotCarriedOut(this.#cause)
  }

  /** Closes this connection; another one is opened immediately. */
  drop(ready: Ready, cause: unknown): void {
    if (this.#ready !== ready) return
    this.#deps.log.warn({ err: cause, connection: this.#name }, 'connection to Redis dropped; reconnecting')
    this.#lost()
  }

  close(): void {
    this.#ending.abort()
    this.#nextReady.resolve()
    this.#lost()
  }

  async #keep(): Promise<void> {
    const { clock } = this.#deps
    // The jitter keeps pods from reconnecting at the same moment.
    const retries = new Backoff(clock, { firstMs: delayMinMs, maxMs: delayMaxMs, jitter: 'half' })
    let failures = 0
    while (!this.closed) {
      const redis = newClient(this.#deps.at, failures)
      const lost = new Promise<void>((resolve) => {
        this.#lost = resolve
        redis.once('end', resolve)
      })
      // The event has the reason; the rejection says only that the connection is closed.
      let heard: unknown
      redis.on('error', (cause: unknown) => {
        heard = cause
      })
      try {
        this.#begin(await within(clock, handshakeMs, connecting, this.#handshake(redis)))
        retries.reset()
        await lost
      } catch (cause) {
        failures += 1
        this.#cause = cause instanceof WrongServer ? cause : (heard ?? cause)
        this.#logFailure(this.#cause)
      } finally {
        this.#ready = undefined
        redis.disconnect()
      }
      await clock.sleep(retries.nextMs(), this.#ending.signal)
    }
  }

  #logFailure(cause: unknown): void {
    if (this.closed) return
    const reason = String(cause)
    if (cause instanceof WrongServer)
      this.#outage.failed({ text: 'Redis cannot be used; retrying', level: 'error', cause, reason })
    else this.#outage.failed({ text: 'Redis unavailable; retrying', cause, reason })
  }

  #begin(ready: Ready): void {
    if (this.closed) return
    this.#outage.worked('Redis available again')
    this.#ready = ready
    this.#nextReady.resolve()
    this.#nextReady = Promise.withResolvers<void>()
    for (const listen of this.#onReady) listen()
  }

  async #handshake(redis: Redis): Promise<Ready> {
    await redis.connect()
    const facts = factsOf(await redis.info())
    if (facts.role !== 'master') throw new Error(`this Redis is a ${facts.role}, not the primary`)
    this.#deps.judge(facts)
    const loading = redis.pipeline()
    for (const { text } of Object.values(scripts)) loading.script('LOAD', text)
    for (const [cause] of (await loading.exec()) ?? []) if (cause) throw cause
    return { redis, run: facts.run }
  }
}

/**
 * All options that send a command again or later are off, because an increment would count twice. After each failure the
 * client asks another Sentinel first, because one that does not answer takes the time of the whole handshake.
 */
function newClient(at: RedisAt, failures: number): Redis {
  const { url, sentinels, master, sentinelPassword, sentinelTls } = at
  const given = url === undefined ? undefined : new URL(url)
  const isSecret = given?.protocol === 'rediss:'
  const database = Number(given?.pathname.slice(1) || 0)
  const server =
    sentinels.length === 0
      ? { host: unbracketed(given?.hostname ?? '127.0.0.1'), port: Number(given?.port || 6379) }
      : {
          sentinels: sentinels.map((_, i) => ({ ...sentinels[(i + failures) % sentinels.length] })),
          name: master,
          role: 'master' as const,
          ...(sentinelPassword !== undefined && { sentinelPassword }),
          ...(sentinelTls && { sentinelTLS: {} }),
          sentinelRetryStrategy: () => null,
          failoverDetector: true,
          Connector: QuietSentinelConnector,
          connectTimeout: handshakeMs,
          ...(isSecret && { enableTLSForSentinelMode: true }),
        }
  return new Redis({
    ...server,
    ...(isSecret && { tls: {} }),
    ...(given?.username && { username: decodeURIComponent(given.username) }),
    ...(given?.password && { password: decodeURIComponent(given.password) }),
    db: database,
    lazyConnect: true,
    connectTimeout: handshakeMs,
    retryStrategy: null,
    reconnectOnError: null,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    enableAutoPipelining: false,
    disableClientInfo: true,
    protocol: 2,
    noDelay: true,
    keepAlive: 10_000,
  })
}

const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')
