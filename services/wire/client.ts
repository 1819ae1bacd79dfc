import { createSecureContext } from 'node:tls'
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'

/** Who calls, and whom it believes. Asked for at each connection: its files may be replaced meanwhile. */
export interface ClientIdentity {
  /** Shown as `authorization: Bearer <token>`. */
  readonly token?: string | undefined
  /** Absent: the connection is not encrypted. */
  readonly tls?: ClientTls | undefined
}

/** PEM. */
export interface ClientTls {
  /** Who may vouch for the server; absent: the authorities that Node comes with. */
  readonly ca?: Buffer | undefined
  /** Shown to the server. */
  readonly pair?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** The server may show any certificate that `ca` vouches for, under whatever name: it is called by its address. */
  readonly isNameless?: boolean | undefined
  /** The only certificate the server may show, under whatever name: for a process that calls itself. */
  readonly pinned?: Buffer | undefined
}

export function channelCredentials({ tls }: ClientIdentity): ChannelCredentials {
  if (!tls) return credentials.createInsecure()
  if (!tls.pinned) return credentials.createSsl(tls.ca, tls.pair?.key, tls.pair?.cert, checksOf(tls))
  const context = createSecureContext({ ca: tls.pinned, allowPartialTrustChain: true })
  return credentials.createFromSecureContext(context, { checkServerIdentity: () => undefined })
}

/** Anybody may have a certificate of the authorities that Node comes with: there the name counts. */
const checksOf = ({ ca, isNameless }: ClientTls) =>
  isNameless && ca !== undefined ? { checkServerIdentity: () => undefined } : undefined

export function callMetadata({ token }: ClientIdentity): Metadata {
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  return metadata
}
