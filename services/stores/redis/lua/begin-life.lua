-- KEYS: start of the slots' data; ARGV: given, run
return text(life_of_slots(KEYS[1], ARGV[2], now_ms(ARGV[1])))
