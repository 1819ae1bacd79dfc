import type { SecureContextOptions } from 'node:tls'
import { ServerCredentials } from '@grpc/grpc-js'
import { handshakeTimeoutMs } from './limits.ts'

/** Files in PEM. */
interface ServerTls {
  /** Authorities of client certificates; without them no certificate is requested. */
  readonly ca: Buffer | undefined
  readonly pair: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

interface WatchedServerTls {
  readonly value: ServerTls
  onChange(listener: (files: ServerTls) => void): void
}

const contextOf = ({ ca, pair }: ServerTls): SecureContextOptions => ({
  ca,
  cert: pair?.cert,
  key: pair?.key,
})

class WatchedCredentials extends ServerCredentials {
  constructor(tls: WatchedServerTls) {
    // A certificate is requested, not required: a token is enough. The authorizer refuses untrusted ones, with a
    // status that names the reason.
    const asked = { requestCert: tls.value.ca !== undefined, rejectUnauthorized: false }
    super({ ...asked, handshakeTimeout: handshakeTimeoutMs }, contextOf(tls.value))
    tls.onChange((files) => this.updateSecureContextOptions(contextOf(files)))
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

/** Credentials of a server: unencrypted without TLS files, or with authorities only, which are for clients. */
export const serverCredentials = (tls: WatchedServerTls | undefined): ServerCredentials =>
  tls?.value.pair ? new WatchedCredentials(tls) : ServerCredentials.createInsecure()
