import type { ProcessContext } from '../process-context.ts'
import { type WatchedTls, watchTls } from './tls-files.ts'

/** The files of TLS for a gRPC server of this process, watched until it stops; `undefined` without any. */
export const startTls = ({
  config,
  clock,
  log,
  lifecycle,
}: Pick<ProcessContext, 'config' | 'clock' | 'log' | 'lifecycle'>): Promise<WatchedTls | undefined> =>
  lifecycle.start({
    name: 'tls',
    start: () => watchTls(config, clock, log),
    stop: (watched) => watched?.close(),
  })
