"""The order in which a chained hash table of growing size yields what was put into it."""

_END = -1


def bucket_order(hashes: list[int]) -> list[int]:
    """Return the order in which distinct keys with these hashes come out of a std::unordered_map, as indices.

    MuJoCo emits the sides of a mesh in this order. All entries form one list, each bucket a stretch of it; an entry
    goes to the front of its bucket's stretch, an empty bucket's to the front of the list.

    Args:
      hashes: of the keys in the order of their insertion, below 2**64.
    Source: the container of libc++, with which MuJoCo's wheels are built.
    """
    table = _Table()
    for key, value in enumerate(hashes):
        table.insert(key, value)
    return table.order()


class _Table:
    """One list of entries, `before` naming the entry in front of each bucket's stretch; _END in front of the first."""

    def __init__(self) -> None:
        self.count = 0
        self.next: dict[int, int] = {_END: _END}
        self.hash: dict[int, int] = {}
        self.before: dict[int, int] = {}

    def insert(self, key: int, value: int) -> None:
        if len(self.hash) >= self.count:
            self._grow(len(self.hash) + 1)
        self.hash[key] = value
        bucket = value % self.count
        if bucket in self.before:
            self._link(key, self.before[bucket])
            return
        self._link(key, _END)
        self.before[bucket] = _END
        if self.next[key] != _END:
            self.before[self.hash[self.next[key]] % self.count] = key

    def order(self) -> list[int]:
        found, key = [], self.next[_END]
        while key != _END:
            found.append(key)
            key = self.next[key]
        return found

    def _link(self, key: int, front: int) -> None:
        self.next[key], self.next[front] = self.next[front], key

    def _grow(self, needed: int) -> None:
        """Take more buckets and gather the list into their stretches."""
        self.count = _bucket_count(self.count, needed)
        self.before = {}
        last, key = _END, self.next[_END]
        while key != _END:
            bucket = self.hash[key] % self.count
            if bucket not in self.before:
                self.before[bucket] = last
                last = key
            elif last != _END and self.hash[last] % self.count == bucket:
                last = key
            else:
                self.next[last] = self.next[key]
                self._link(key, self.before[bucket])
            key = self.next[last]


def _bucket_count(old: int, needed: int) -> int:
    """Return the number of buckets: at least doubled, a prime once it is odd."""
    power = old > 2 and old & (old - 1) == 0
    count = max(2 * old + (not power), needed, 2)
    while count & (count - 1) and any(count % k == 0 for k in range(2, int(count**0.5) + 1)):
        count += 1
    return count
