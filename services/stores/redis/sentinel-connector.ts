import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis'

/**
 * The library's connector, without its text: it prints each failure of the connections on which it waits for a failover,
 * because it listens to none of them.
 */
export class QuietSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions)
    const open = this['connectToSentinel'] as (...args: readonly unknown[]) => NodeJS.EventEmitter
    this['connectToSentinel'] = (...args: readonly unknown[]) =>
      open.apply(this, [...args]).on('error', () => undefined)
  }
}
