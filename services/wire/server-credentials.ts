import type { SecureContextOptions } from 'node:tls'
import { ServerCredentials } from '@grpc/grpc-js'
import { handshakeTimeoutMs } from './limits.ts'

/** PEM. */
interface ServerTls {
  /** Authorities of the certificates of clients; absent: none is asked for a certificate. */
  readonly ca: Buffer | undefined
  readonly pair: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

/** As they are now, and whoever wants to hear when they change. */
interface WatchedServerTls {
  readonly files: ServerTls
  onChange(listener: (files: ServerTls) => void): void
}

const contextOf = ({ ca, pair }: ServerTls): SecureContextOptions => ({
  ca,
  cert: pair?.cert,
  key: pair?.key,
})

/** TLS with the files as they are at each connection. */
class WatchedCredentials extends ServerCredentials {
  constructor(tls: WatchedServerTls) {
    // Clients are asked for a certificate, not forced: a token is as good, and refusing one that is not
    // trusted is the authorizer's, with a status that says so.
    const asked = { requestCert: tls.files.ca !== undefined, rejectUnauthorized: false }
    super({ ...asked, handshakeTimeout: handshakeTimeoutMs }, contextOf(tls.files))
    tls.onChange((files) => this.updateSecureContextOptions(contextOf(files)))
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

/** Plain without TLS, or where only authorities are configured: those are for clients. */
export const serverCredentials = (tls: WatchedServerTls | undefined): ServerCredentials =>
  tls?.files.pair ? new WatchedCredentials(tls) : ServerCredentials.createInsecure()
