// `make terminals` checks the sources and writes the file of each terminal.
import { writeFileSync } from 'node:fs'
import { complaintsOf } from './lint.ts'
import { joined, programPath } from './programs.ts'

for (const kind of ['mt5', 'mt4'] as const) {
  const text = joined(kind)
  const complaints = complaintsOf(text, kind)
  for (const complaint of complaints) process.stderr.write(`${kind}: ${complaint}\n`)
  if (complaints.length > 0) process.exitCode = 1
  else writeFileSync(programPath(kind), text)
}
