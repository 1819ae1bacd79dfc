import { isIP } from 'node:net'
import { plainAddress } from '../addresses.ts'

export interface Arrival {
  /** The address at the other end of the connection; `undefined` once the socket is gone. */
  readonly peer: string | undefined
  readonly forwardedFor: string | readonly string[] | undefined
  /** `addressMatcher` of the configured CIDR list of proxies. */
  readonly trusted: (address: string) => boolean
}

/** Maximum proxies that are followed; a longer chain ends there. */
const hopsMax = 32

/**
 * The client's address. Reads the forwarded chain from the right, and only as far as trusted peers wrote it: the
 * client could have forged entries further left. An entry that is not an address ends the chain at the proxy that sent
 * it.
 */
export function clientAddress({ peer, forwardedFor, trusted }: Arrival): string {
  let address = plainAddress(peer ?? '')
  if (forwardedFor === undefined || !trusted(address)) return address
  const chain = [forwardedFor].flat().join(',').split(',').slice(-hopsMax).reverse()
  for (const entry of chain) {
    const hop = withoutPort(entry.trim())
    if (isIP(hop) === 0) return address
    address = plainAddress(hop)
    if (!trusted(address)) return address
  }
  return address
}

/** Some proxies write `192.0.2.1:5044` or `[2001:db8::1]:5044`. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)
  if (bracketed) return bracketed[1] ?? ''
  return entry.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
}
