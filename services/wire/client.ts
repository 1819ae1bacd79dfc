import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls'
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'

/** Who calls, and what it trusts. Asked for at each connection: its files may be replaced meanwhile. */
export interface ClientIdentity {
  /** Shown as `authorization: Bearer <token>`. */
  readonly token?: string | undefined
  /** Absent: the connection is not encrypted. */
  readonly tls?: ClientTls | undefined
}

/** PEM. */
export interface ClientTls {
  /** Authorities of the server's certificate; absent: the authorities that Node comes with. */
  readonly ca?: Buffer | undefined
  /** Shown to the server. */
  readonly pair?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** The name that the server's certificate must have, whatever address it is called by. */
  readonly serverName?: string | undefined
  /** The only certificate the server may show, under whatever name: for a process that calls itself. */
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
