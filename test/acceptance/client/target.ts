import { inject } from 'vitest'

/** Where the service under test stands and the doors through which keys and bars enter it. */
export interface Target {
  /** `http://host:port` */
  readonly url: string
  /** `ws://host:port` */
  readonly ws: string
  /** Metrics and health. */
  readonly ops: string
  /** `host:port` where collectors connect. */
  readonly grpc: string
  /** A file that holds the token of a collector. */
  readonly token: string
  /** A command line that takes the arguments of `fxd keys …`. */
  readonly issuer: string
  /** A command line that takes the arguments of `fxd import …`. */
  readonly importer: string
  /** One folder per Mt5Csv feed, named like the manifest, followed by the service. */
  readonly input: string
  /** Everything the service wrote to its standard output and error. */
  readonly log: string
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target
  }
}

let own: Target | undefined

/** For a file that starts a service of its own: every client of the file then speaks to that one. */
export const useTarget = (target: Target): void => {
  own = target
}

export const target = (): Target => own ?? inject('target')
