import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../../ports/clock.ts'
import { ConfigError } from '../config/values.ts'
import type { Config } from '../config.ts'
import type { Log } from '../log/log.ts'
import type { ProcessContext } from '../process/process-context.ts'
import { type Watched, watch } from './watch.ts'

export type TlsPlace = Pick<Config, 'tlsCert' | 'tlsKey'> & Partial<Pick<Config, 'tlsCa'>>
/** The prefix of the variables that name the files. */
type TlsPrefix = 'FXD_TLS' | 'FXD_TERMINAL_TLS'

/** Contents of the files: PEM, checked. */
interface TlsFiles {
  readonly ca: Buffer | undefined
  /** Certificate chain and key; they belong together. */
  readonly pair: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

/** Reads the files; `undefined`: none are configured. Throws `ConfigError` that names the variable. */
export function readTls(
  { tlsCert, tlsKey, tlsCa }: TlsPlace,
  prefix: TlsPrefix = 'FXD_TLS',
): TlsFiles | undefined {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new ConfigError(`${prefix}_CERT and ${prefix}_KEY go together: set both, or none.`)
  }
  if (tlsCert === undefined && tlsCa === undefined) return undefined
  const ca = tlsCa === undefined ? undefined : read('FXD_TLS_CA', tlsCa)
  if (ca) fit(`FXD_TLS_CA (${tlsCa}) holds no certificate in PEM`, { ca })
  if (tlsCert === undefined || tlsKey === undefined) return { ca, pair: undefined }
  const pair = { cert: read(`${prefix}_CERT`, tlsCert), key: read(`${prefix}_KEY`, tlsKey) }
  fit(
    `${prefix}_CERT (${tlsCert}) and ${prefix}_KEY (${tlsKey}) are not a certificate and its private key in PEM`,
    pair,
  )
  return { ca, pair }
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new ConfigError(`${name} (${path}) cannot be read: ${(cause as Error).message}.`)
  }
}

function fit(otherwise: string, options: Parameters<typeof createSecureContext>[0]): void {
  try {
    // OpenSSL ignores a file of authorities that contains no certificate.
    if (options?.ca && !options.ca.toString().includes('-----BEGIN CERTIFICATE-----')) throw new Error('none')
    createSecureContext(options)
  } catch (cause) {
    throw new ConfigError(`${otherwise}: ${(cause as Error).message}.`)
  }
}

export type WatchedTls = Watched<TlsFiles>

/** Invalid files, such as half written ones or a certificate without its key, are logged, and the old ones stay in use. */
export function watchTls(
  place: TlsPlace,
  clock: Clock,
  log: Log,
  prefix?: TlsPrefix,
): WatchedTls | undefined {
  const first = readTls(place, prefix)
  if (!first) return undefined
  return watch(() => readTls(place, prefix) ?? first, clock, {
    replaced: () => log.info('TLS files replaced; new connections use them'),
    failed: (cause) =>
      log.error({ err: cause }, 'TLS files rejected; the old ones stay in use; retrying every 10 s'),
  })
}

/** TLS files for the gRPC server of this process, watched until it stops; `undefined` where none are configured. */
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
