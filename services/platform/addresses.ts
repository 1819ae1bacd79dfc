import { BlockList, isIP } from 'node:net'

/** An address, or a CIDR block of version 4 or 6. */
export function isAddressBlock(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0 || address.includes('%')) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}

/** `::ffff:192.0.2.1` and `192.0.2.1` are the same client. A zone index does not identify a client. */
export function plainAddress(address: string): string {
  const unzoned = address.replace(/%.*$/, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unzoned)
  return mapped?.[1] ?? unzoned
}

/** Whether only programs of this machine reach the host or have the address. */
export function isLoopback(host: string): boolean {
  const plain = plainAddress(host)
  return plain === 'localhost' || plain === '::1' || /^127(?:\.\d{1,3}){3}$/.test(plain)
}

/** Whether an address is in any of the blocks; each block must pass `isAddressBlock`. */
export function addressMatcher(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const block of blocks) {
    const [address = '', prefix] = block.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => {
    const plain = plainAddress(address)
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}
