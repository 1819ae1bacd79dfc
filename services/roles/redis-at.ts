import type { Config } from '../platform/config.ts'
import type { RedisStoreOptions } from '../stores/redis/options.ts'

/** Where the Redis of this configuration is; `undefined`: what pods share is kept in this process. */
export const redisAt = (config: Config): Pick<RedisStoreOptions, 'at' | 'prefix'> | undefined => {
  const { redis: url, redisSentinels: sentinels, redisMaster: master, redisPrefix: prefix } = config
  if (url === undefined && sentinels.length === 0) return undefined
  return { at: { url, sentinels, master, sentinelPassword: config.redisSentinelPassword }, prefix }
}
