import type { KnownIdentity } from '../../ports/store-identity.ts'
import { Keys } from './keys.ts'
import { Calls } from './link/calls.ts'
import { Connection } from './link/connection.ts'
import type { RedisStoreOptions } from './options.ts'

const field = 'identity'
const readDeadlineMs = 2_000

/** A hash with one field: the Redis users of fxd may call the commands of hashes. */
export function redisIdentity(calls: Calls, { store }: Keys): KnownIdentity {
  return {
    async agree(offered) {
      const [, known] = await Promise.all([
        offered === undefined ? undefined : calls.command('hsetnx', store, field, offered),
        calls.command('hget', store, field),
      ])
      return known === null ? undefined : String(known)
    },
    async replace(word) {
      await calls.command('hset', store, field, word)
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
    return await redisIdentity(calls, new Keys(prefix)).agree()
  } finally {
    connection.close()
  }
}
