import { run } from './kubectl.ts'
import type { ClusterNetwork } from './network.ts'
import { nodePackages } from './programs.ts'

/** Port of metrics and probes. */
const opsPort = 9464
const apiServerPort = 6443

export interface Block {
  /** Removes the block. */
  remove(): Promise<void>
}

/** Blocks packets between pods of these addresses and the API server. */
export const blockApiServer = (network: ClusterNetwork, pods: readonly string[]): Promise<Block> => {
  const addresses = `{ ${pods.join(', ')} }`
  return block(network, {
    input: [`ip saddr ${addresses} tcp dport ${apiServerPort} drop`],
    output: [`ip daddr ${addresses} tcp sport ${apiServerPort} drop`],
  })
}

/**
 * Isolates a node with its pods, as after a fault of its network. Its kubelet runs in the network that all nodes of
 * these tests share, so packets of probes are recognized by their port.
 */
export const blockNode = (network: ClusterNetwork, number: number): Promise<Block> => {
  const [node, pods] = [network.nodeAddress(number), network.podRangeOf(number)]
  return block(network, {
    forward: [`ip saddr ${pods} ip daddr != ${pods} drop`, `ip daddr ${pods} ip saddr != ${pods} drop`],
    input: [
      `ip saddr ${pods} tcp sport ${opsPort} accept`,
      `ip saddr { ${node}, ${pods} } drop`,
      `ip daddr ${node} drop`,
    ],
    output: [`ip daddr ${pods} tcp dport ${opsPort} accept`, `ip daddr { ${node}, ${pods} } drop`],
  })
}

type Hook = 'forward' | 'input' | 'output'

let blocks = 0

async function block(
  network: ClusterNetwork,
  rules: Readonly<Partial<Record<Hook, readonly string[]>>>,
): Promise<Block> {
  blocks += 1
  const table = `inet fxd_test_${blocks}`
  const nft = async (input: string): Promise<void> => {
    await run(network.enter('nft', '-f', '-'), { input, env: nodePackages().env })
  }
  const chains = Object.entries(rules).map(
    ([hook, lines]) => `chain ${hook} { type filter hook ${hook} priority -10;\n${lines.join('\n')}\n}`,
  )
  await nft(`table ${table} {\n${chains.join('\n')}\n}\n`)
  return { remove: () => nft(`delete table ${table}\n`) }
}
