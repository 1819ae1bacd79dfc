import { expect, test } from 'vitest'
import { Connections } from './connections.ts'

const connectionsOf = (count: number): Connections<number> => {
  let made = 0
  return new Connections(() => made++, count)
}

test('a table keeps its connection, whatever tables follow', () => {
  const connections = connectionsOf(4)
  const before = ['m1_0of4', 'm1_1of4'].map((table) => connections.of(table))
  for (let i = 0; i < 50; i++) connections.of(`other_${i}`)
  expect(['m1_0of4', 'm1_1of4'].map((table) => connections.of(table))).toEqual(before)
})

test('tables that are first written together are spread evenly over the connections', () => {
  const connections = connectionsOf(4)
  const used = Array.from({ length: 32 }, (_, bucket) => connections.of(`m1_${bucket}of32`))
  expect([0, 1, 2, 3].map((connection) => used.filter((each) => each === connection).length)).toEqual([
    8, 8, 8, 8,
  ])
})
