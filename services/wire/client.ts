import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls'
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'

/** The caller's credential and trust. Read anew for each connection: its files may have been replaced. */
export interface ClientIdentity {
  /** Sent as `authorization: Bearer <token>`. */
  readonly token?: string | undefined
  /** Without it the connection is not encrypted. */
  readonly tls?: ClientTls | undefined
}

/** Files in PEM. */
export interface ClientTls {
  /** Authorities of the server's certificate; by default those of Node. */
  readonly ca?: Buffer | undefined
  readonly pair?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** The name that the server's certificate must have, independent of the address. */
  readonly serverName?: string | undefined
  /** The only certificate that the server may use, under any name: for a process that calls itself. */
  readonly pinned?: Buffer | undefined
}

export function channelCredentials({ tls }: ClientIdentity): ChannelCredentials {
  if (!tls) return credentials.createInsecure()
  if (!tls.pinned) return credentials.createSsl(tls.ca, tls.pair?.key, tls.pair?.cert, checksOf(tls))
  const context = createSecureContext({ ca: tls.pinned, allowPartialTrustChain: true })
  return credentials.createFromSecureContext(context, { checkServerIdentity: () => undefined })
}

const checksOf = ({ serverName }: ClientTls) =>
  serverName === undefined
    ? undefined
    : {
        checkServerIdentity: (_address: string, certificate: PeerCertificate) =>
          checkServerIdentity(serverName, certificate),
      }

export function callMetadata({ token }: ClientIdentity): Metadata {
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  return metadata
}
