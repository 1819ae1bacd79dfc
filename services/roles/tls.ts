import { type WatchedTls, watchTls } from '../platform/tls-files.ts'
import type { House } from './house.ts'

/** The files of TLS for a gRPC server of this process, watched until it stops; `undefined` without any. */
export const startTls = ({
  config,
  clock,
  log,
  lifecycle,
}: Pick<House, 'config' | 'clock' | 'log' | 'lifecycle'>): Promise<WatchedTls | undefined> =>
  lifecycle.start({
    name: 'tls',
    start: () => watchTls(config, clock, log),
    stop: (watched) => watched?.close(),
  })
