import { plainAddress } from '../../../../platform/addresses.ts'

/** Whether only programs of this machine reach the host or have the address. */
export function isLoopback(host: string): boolean {
  const plain = plainAddress(host)
  return plain === 'localhost' || plain === '::1' || /^127(?:\.\d{1,3}){3}$/.test(plain)
}
