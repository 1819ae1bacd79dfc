import { readFileSync } from 'node:fs'
import { Unavailable, WrongServer } from '../core/failure.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import { folderFailure } from '../platform/files/path-failures.ts'
import { Fatal } from '../platform/process/exit.ts'
import type { Overrides, ProcessContext } from '../platform/process/process-context.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { KnownIdentity } from '../ports/store-identity.ts'
import type { Stores } from '../ports/stores.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { prepareQuestdbStores } from '../stores/questdb/open.ts'
import type { QuestdbOptions } from '../stores/questdb/options.ts'
import type { StoreUser } from '../stores/questdb/pg/connection-counts.ts'
import { prepareRedisStores } from '../stores/redis/open.ts'
import type { RedisStoreOptions } from '../stores/redis/options.ts'

/** Address of Redis; `undefined` if this process keeps in memory what pods share. */
export const redisAt = (config: Config): Pick<RedisStoreOptions, 'at' | 'prefix'> | undefined => {
  const { redis: url, redisSentinels: sentinels, redisMaster: master, redisPrefix: prefix } = config
  const { redisSentinelPassword: sentinelPassword, redisSentinelTls } = config
  if (url === undefined && sentinels.length === 0) return undefined
  const sentinelTls = redisSentinelTls === 'enabled'
  return { at: { url, sentinels, master, sentinelPassword, sentinelTls }, prefix }
}

export const questdbAt = (
  config: Config,
): Pick<QuestdbOptions, 'http' | 'pg' | 'credentials' | 'prefix'> => ({
  http: config.questdbHttp,
  pg: config.questdbPg,
  credentials: { user: config.questdbUser, password: config.questdbPassword },
  prefix: config.questdbPrefix,
})

/** Throws if a store is not shared: a role in its own process must share all stores with the other processes. */
export function requireStores(role: string, { store, redis, redisSentinels }: Config): void {
  const missing = [
    ...(store === 'questdb' ? [] : ['FXD_STORE=questdb']),
    ...(redis !== undefined || redisSentinels.length > 0 ? [] : ['FXD_REDIS=redis://host:port']),
  ]
  if (missing.length === 0) return
  throw new ConfigError(
    `${role} shares its stores with other processes: set ${missing.join(' and ')}, or start "fxd all", which needs neither.`,
  )
}

export interface OpenedStores {
  readonly stores: Stores
  /** Whether they may be unavailable while this process runs. */
  readonly areRemote: boolean
  /** Makes them ready for use. Rejects with `Unavailable`, which may be retried, or `Fatal`. */
  readonly connect: () => Promise<void>
}

export interface RoleOverrides extends Overrides {
  /** Used in place of the configured ones; the caller must close them. */
  readonly stores?: OpenedStores
}

interface Part {
  readonly stores: Partial<Stores> & Pick<Stores, 'close'>
  readonly connect: () => Promise<void>
}

/**
 * Opens the stores of this configuration. With FXD_STORE=questdb bars, windows and registry are in QuestDB; with
 * FXD_REDIS data that pods share is in Redis; all other data is in the data folder. Rejects with `Fatal` if the
 * folder is needed and cannot be used. It does not wait for a server.
 */
export async function openStores(context: ProcessContext, user: StoreUser): Promise<OpenedStores> {
  const isQuestdb = context.config.store === 'questdb'
  const redis = redisAt(context.config)
  let known: KnownIdentity | undefined
  const remote: Part[] = isQuestdb ? [await questdbPart(context, user, () => known)] : []
  const local = isQuestdb && redis ? [] : [{ stores: await openFolder(context) }]
  // Redis is opened last, because it connects immediately: if another store failed to open later, nothing would close it.
  if (redis) {
    const part = redisPart(context, user, redis)
    known = part.identity
    remote.unshift(part)
  }
  const parts = [...local, ...remote]
  return {
    stores: Object.assign({}, ...parts.map(({ stores }) => stores), {
      close: () => Promise.all(parts.map(({ stores }) => stores.close())),
    }) as Stores,
    areRemote: remote.length > 0,
    async connect() {
      // Redis first: it knows the identity of the store.
      for (const { connect } of remote) await connect().catch(asStartFailure)
    },
  }
}

/** Uses real time with any clock of the context: the server answers in real time. */
const questdbPart = (
  { config, log, metrics }: ProcessContext,
  user: StoreUser,
  known: () => KnownIdentity | undefined,
): Promise<Part> =>
  prepareQuestdbStores({
    ...questdbAt(config),
    clock: systemClock,
    log,
    metrics,
    user,
    known,
    readKnown: () => readIdentityFile(config),
  })

/** The identity in the file of FXD_STORE_IDENTITY_FILE; `undefined` without a file. */
export function readIdentityFile({ storeIdentityFile }: Config): string | undefined {
  if (storeIdentityFile === undefined) return undefined
  try {
    return readFileSync(storeIdentityFile, 'utf8').trim() || undefined
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Unavailable('store', cause)
  }
}

/** With a virtual clock in the context, Redis uses its time too. */
const redisPart = (
  { config, clock, log, metrics }: ProcessContext,
  user: StoreUser,
  at: NonNullable<ReturnType<typeof redisAt>>,
): Part & { readonly identity: KnownIdentity } => {
  const time = clock === systemClock ? {} : { time: clock }
  // A process that admits requests gets a share of the limits in an outage of Redis.
  const admits = user === 'all' || user === 'rest'
  const pods = admits ? config.limitsPods : 1
  const shared = { clock: systemClock, log, metrics }
  const { stores, connect, identity } = prepareRedisStores({ ...at, ...time, ...shared, admits, pods })
  return {
    stores,
    identity,
    // The start does not wait for Redis: without it each pod has a share of the limits, and the registry is in QuestDB.
    connect: () =>
      connect().catch((cause: unknown) => {
        if (cause instanceof WrongServer) throw cause
        log.warn({ err: cause }, 'Redis unavailable; the start continues without it')
      }),
  }
}

function asStartFailure(cause: unknown): never {
  if (cause instanceof WrongServer) throw new Fatal('config', cause.message, cause)
  throw cause instanceof Unavailable ? cause : new Unavailable('store', cause)
}

async function openFolder({ config, clock, log, metrics }: ProcessContext): Promise<Stores> {
  const folder = config.dataDir
  try {
    return await openEmbeddedStores({ folder, clock, log, metrics })
  } catch (cause) {
    throw folderFailure(folder, cause)
  }
}
