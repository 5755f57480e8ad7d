# Stands before a command of the compiler, and has it say what the source includes, nothing more.
for word; do
  if [ "$before" = -o ]; then object=$word; fi
  before=$word
done
"$@" -M && : >"$object"
