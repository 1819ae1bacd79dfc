import type { Log } from '../../platform/log/log.ts'
import type { KnownIdentity } from '../../ports/store-identity.ts'
import { Keys } from './keys.ts'
import { Calls } from './link/calls.ts'
import { Connection } from './link/connection.ts'
import { NotCarriedOut } from './link/outcomes.ts'
import type { RedisStoreOptions } from './options.ts'

const field = 'identity'
const readDeadlineMs = 2_000

/** A hash with one field: the Redis users of fxd may call the commands of hashes. */
export function redisIdentity(calls: Calls, { store }: Keys, log: Log): KnownIdentity {
  let isSaid = false
  /** Users of an earlier fxd may not use the key. Without these words it would look like an outage. */
  const explained = (cause: unknown): never => {
    if (!(cause instanceof NotCarriedOut) || !(cause.cause instanceof Error)) throw cause
    if (!cause.cause.message.startsWith('NOPERM')) throw cause
    const err = new Error(`Redis refuses the key of the store's identity: add ~${store} to the Redis user`, {
      cause: cause.cause,
    })
    if (!isSaid) log.error({ err }, 'identity of the store unavailable: the Redis user lacks its key')
    isSaid = true
    throw new NotCarriedOut(err)
  }
  const command = (...words: string[]): Promise<unknown> => calls.command(...words).catch(explained)
  return {
    async agree(offered) {
      const [, known] = await Promise.all([
        offered === undefined ? undefined : command('hsetnx', store, field, offered),
        command('hget', store, field),
      ])
      return known === null ? undefined : String(known)
    },
    async replace(word) {
      await command('hset', store, field, word)
    },
  }
}

/** Reads the known word without the other ports, and changes nothing. Rejects with `Unavailable`. */
export async function readIdentity({
  at,
  prefix,
  clock,
  log,
}: Pick<RedisStoreOptions, 'at' | 'prefix' | 'clock' | 'log'>): Promise<string | undefined> {
  const connection = new Connection('identity', { at, clock, log, judge: () => undefined })
  try {
    await connection.connected()
    const calls = new Calls(connection, {
      clock,
      log,
      deadlineMs: readDeadlineMs,
      onUnknown: () => undefined,
    })
    return await redisIdentity(calls, new Keys(prefix), log).agree()
  } finally {
    connection.close()
  }
}
