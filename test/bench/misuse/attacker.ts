/** One attack of the bench `misuse`, in a process of its own. */
import { type Scene, Tally } from './attack.ts'
import { attacks } from './attacks.ts'

export interface AttackOrder extends Scene {
  readonly name: string
}
/** `ready`: everything is built and opened. At `begin` it begins, at `end` it tells and ends. */
export type AttackReport = { readonly ready: true } | { readonly counts: Readonly<Record<string, number>> }
export type AttackCommand = 'begin' | 'end'

const tally = new Tally()
const report = (message: AttackReport): void => void process.send?.(message)

process.once('disconnect', () => process.exit())
process.once('message', (order: AttackOrder) => {
  void prepare(order)
})

async function prepare({ name, ...scene }: AttackOrder): Promise<void> {
  const begin = await attacks.get(name)?.run(scene, tally)
  if (!begin) throw new Error(`${name} is no attack`)
  process.on('message', (command: AttackCommand) => {
    if (command === 'begin') return begin()
    process.send?.({ counts: tally.counts } satisfies AttackReport, () => process.exit())
  })
  report({ ready: true })
}
