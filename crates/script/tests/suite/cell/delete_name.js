delete x
