import type { Config } from '../platform/config.ts'
import { ConfigError } from '../platform/config.ts'

/** A role of its own shares everything with others: what only lives in one process would be wrong in each. */
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
