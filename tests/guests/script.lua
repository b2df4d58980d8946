-- SPDX-License-Identifier: Apache-2.0
-- Strings, tables, closures, coroutines, sorting, errors, garbage: what a script does all day.
-- The order of pairs() hangs on addresses, so nothing here prints in that order.
local words = {}
for word in ("the quick brown fox jumps over the lazy dog again and again"):gmatch("%a+") do
    words[#words + 1] = word
end
table.sort(words)
print(table.concat(words, " "))

local count = {}
for _, word in ipairs(words) do count[word] = (count[word] or 0) + 1 end
print(count.again, count.the, count.fox)

local function primes(limit)
    return coroutine.wrap(function()
        local sieve = {}
        for n = 2, limit do
            if not sieve[n] then
                coroutine.yield(n)
                for m = n * n, limit, n do sieve[m] = true end
            end
        end
    end)
end
local sum, last = 0, 0
for p in primes(5000) do sum, last = sum + p, p end
print(sum, last, string.format("%.12f %5d %-8s|%q", math.pi, last, "left", "a\nb"))

local text = {}
for i = 1, 2000 do text[i] = string.rep(string.char(97 + i % 26), i % 7) end
local joined = table.concat(text)
print(#joined, joined:sub(100, 120), select(2, joined:gsub("aa", "")))

print(select(2, pcall(function() error({ code = 42 }) end)).code)
print(select(2, pcall(error, "told", 0)), tostring(1 // 0.0), 7 // 2, 2 ^ 0.5, 1 << 40)

local Account = {}
Account.__index = Account
function Account.new(amount) return setmetatable({ amount = amount }, Account) end
function Account:add(n) self.amount = self.amount + n return self end
print(Account.new(10):add(5):add(-3).amount)

local file = assert(io.open(argument, "w"))
for i = 1, 300 do file:write(i, " ", i * i, "\n") end
file:close()
local lines, total = 0, 0
for line in io.lines(argument) do
    lines, total = lines + 1, total + tonumber(line:match("%d+$"))
end
print(lines, total, utf8.len("häßlich"))
