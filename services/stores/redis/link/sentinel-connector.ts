import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis'

/**
 * The library listens for no errors on the connections on which it waits for a failover, so it prints each failure.
 * This connector prints none.
 */
export class QuietSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions)
    const open = this['connectToSentinel'] as (...args: readonly unknown[]) => NodeJS.EventEmitter
    this['connectToSentinel'] = (...args: readonly unknown[]) =>
      open.apply(this, [...args]).on('error', () => undefined)
  }
}
