import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { ConfigError } from '../config/values.ts'
import type { Config } from '../config.ts'
import type { Log } from '../log/log.ts'
import type { ProcessContext } from '../process/process-context.ts'

/** The settings that name the files of TLS. */
export type TlsPlace = Pick<Config, 'tlsCert' | 'tlsKey' | 'tlsCa'>

/** Contents of the files: PEM, checked. */
export interface TlsFiles {
  readonly ca: Buffer | undefined
  /** Certificate chain and key; they belong together. */
  readonly pair: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

/** Interval at which the files are read; a replaced certificate is used after at most this. */
export const tlsReloadMs = 10_000

/** Reads the files; `undefined`: none are configured. Throws `ConfigError` that names the variable. */
export function readTls({ tlsCert, tlsKey, tlsCa }: TlsPlace): TlsFiles | undefined {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new ConfigError('FXD_TLS_CERT and FXD_TLS_KEY go together: set both, or none.')
  }
  if (tlsCert === undefined && tlsCa === undefined) return undefined
  const ca = tlsCa === undefined ? undefined : read('FXD_TLS_CA', tlsCa)
  if (ca) fit(`FXD_TLS_CA (${tlsCa}) holds no certificate in PEM`, { ca })
  if (tlsCert === undefined || tlsKey === undefined) return { ca, pair: undefined }
  const pair = { cert: read('FXD_TLS_CERT', tlsCert), key: read('FXD_TLS_KEY', tlsKey) }
  fit(
    `FXD_TLS_CERT (${tlsCert}) and FXD_TLS_KEY (${tlsKey}) are not a certificate and its private key in PEM`,
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

export interface WatchedTls {
  readonly files: TlsFiles
  onChange(listener: (files: TlsFiles) => void): void
  close(): void
}

/**
 * Reads the files periodically, so that they can be replaced while the process runs. Invalid files (half
 * written, or a certificate without its key) are logged, and the old ones stay in use.
 */
export function watchTls(place: TlsPlace, clock: Clock, log: Log): WatchedTls | undefined {
  let files = readTls(place)
  if (!files) return undefined
  const listeners: ((files: TlsFiles) => void)[] = []
  const reload = (): void => {
    try {
      const now = readTls(place)
      if (!now || isSame(now, files as TlsFiles)) return
      files = now
      log.info('TLS files replaced; new connections use them')
      for (const listener of listeners) listener(now)
    } catch (cause) {
      log.error({ err: cause }, 'TLS files rejected; the old ones stay in use; retrying every 10 s')
    }
  }
  const close: Cancel = clock.every(tlsReloadMs, reload)
  return {
    get files() {
      return files as TlsFiles
    },
    onChange: (listener) => void listeners.push(listener),
    close,
  }
}

const text = (files: TlsFiles): string =>
  [files.ca, files.pair?.cert, files.pair?.key].map((each) => each?.toString('base64')).join(' ')
const isSame = (a: TlsFiles, b: TlsFiles): boolean => text(a) === text(b)

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
