import { expect, inject } from 'vitest'

/** Base URLs of the pods of a service. Each pod learns of keys separately. */
export interface Pods {
  readonly rest: readonly string[]
  readonly stream: readonly string[]
}

/** Addresses of the service under test, and how tests issue keys and bring in bars. */
export interface Target {
  /** `http://host:port` */
  readonly url: string
  /** `ws://host:port` */
  readonly ws: string
  /** `http://host:port` of metrics and health. */
  readonly ops: string
  /** `host:port` where collectors connect. */
  readonly grpc: string
  /** Path of a file with the token of a collector. */
  readonly token: string
  /** A command line that accepts the arguments of `fxd keys …`. */
  readonly issuer: string
  /** A command line that accepts the arguments of `fxd import …`. */
  readonly importer: string
  /** One folder per Mt5Csv feed, named like the manifest, followed by the service. */
  readonly input: string
  /** Path of the file with the standard output and error of the service. */
  readonly log: string
  /** Pods that must know a key before a test uses it. */
  readonly pods?: Pods
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target
  }
}

let own: { readonly file: string | undefined; readonly target: Target } | undefined

/** The path of the present test file; files that a worker runs one after another share this module. */
const presentFile = (): string | undefined => expect.getState().testPath

/** For a test file that starts its own service: all clients of the file then use it. */
export const useTarget = (target: Target): void => {
  own = { file: presentFile(), target }
}

export const target = (): Target =>
  (own?.file === presentFile() ? own?.target : undefined) ?? inject('target')
