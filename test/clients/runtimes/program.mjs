// Prints what a program of a user sees, one JSON line each. It runs unchanged in every runtime and in a page.
import { Fxd } from '@fxd/client'

export async function run({ url, key, symbol, from }, print) {
  const logger = { warn: (message) => print({ warn: message.split(':')[0] }) }
  try {
    const fxd = new Fxd({ url, key, logger })
    for await (const item of fxd.bars(symbol, { from })) print(item)
  } catch (error) {
    print({ error: error.code, closeCode: error.closeCode })
  }
}

if (!globalThis.document) {
  const { argv, exit } = globalThis.process
  await run(JSON.parse(argv[2]), (line) => console.log(JSON.stringify(line)))
  exit(0)
}
