import type { SecureContextOptions } from 'node:tls'
import { ServerCredentials } from '@grpc/grpc-js'
import type { TlsFiles, WatchedTls } from '../platform/tls-files.ts'

const contextOf = ({ ca, pair }: TlsFiles): SecureContextOptions => ({ ca, cert: pair?.cert, key: pair?.key })

/** TLS with the files as they are at each connection. */
class WatchedCredentials extends ServerCredentials {
  constructor(tls: WatchedTls) {
    // Clients are asked for a certificate, not forced: a token is as good, and refusing one that is not
    // trusted is the authorizer's, with a status that says so.
    super({ requestCert: tls.files.ca !== undefined, rejectUnauthorized: false }, contextOf(tls.files))
    tls.onChange((files) => this.updateSecureContextOptions(contextOf(files)))
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

/** Plain without TLS, or where only authorities are configured: those are for clients. */
export const serverCredentials = (tls: WatchedTls | undefined): ServerCredentials =>
  tls?.files.pair ? new WatchedCredentials(tls) : ServerCredentials.createInsecure()
